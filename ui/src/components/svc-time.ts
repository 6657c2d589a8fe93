import { consume } from '@lit/context';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { Ticker } from '../controllers/ticker.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { formatAge, formatDateTime, formatDuration } from '../format.js';

/**
 * With `from` alone: how long ago, ticking. With `elapsed`: the time from `from` to `to`, ticking while `to` is null.
 * The full time is in the title from when it is pointed at: writing it is slow.
 */
@customElement('svc-time')
export class SvcTime extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ type: Number }) from: number | null = null;
  @property({ type: Number }) to: number | null = null;
  @property({ type: Boolean }) elapsed = false;
  readonly #ticker = new Ticker(this);

  static override styles = css`
    :host {
      white-space: nowrap;
    }
  `;

  override willUpdate(): void {
    this.#ticker.running = this.from !== null && !(this.elapsed && this.to !== null);
  }

  override render() {
    if (this.from === null) return html`–`;
    const until = this.to ?? this.api.now();
    const text = this.elapsed ? formatDuration(until - this.from) : formatAge(until - this.from);
    return html`<time datetime=${new Date(this.from).toISOString()} @pointerenter=${this.#describe}
      >${text}</time
    >`;
  }

  #describe({ target }: PointerEvent): void {
    const from = formatDateTime(this.from!);
    (target as HTMLElement).title =
      this.elapsed && this.to !== null ? `${from} to ${formatDateTime(this.to)}` : from;
  }
}
