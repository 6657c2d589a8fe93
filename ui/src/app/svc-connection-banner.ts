import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import type { StreamState } from '../data/live-stream.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';

/** A stream that is back so soon was hardly away. */
const PATIENCE_MS = 2000;

/** Says over the page that it is no longer live, until it is. It lies over the page, so that nothing moves; `svc-shown` tells whether it is there. */
@customElement('svc-connection-banner')
export class SvcConnectionBanner extends LitElement {
  @property({ attribute: false }) connection: StreamState = 'connecting';
  @state() private isShown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  static override styles = [
    baseStyles,
    iconStyles,
    css`
      :host {
        position: fixed;
        z-index: 20;
        bottom: var(--space-4);
        right: 0;
        left: var(--nav-width);
        display: flex;
        justify-content: center;
        padding: 0 var(--space-4);
        pointer-events: none;
      }
      p {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        padding: var(--space-2) var(--space-4);
        border-radius: var(--radius-full);
        background: var(--color-warning-soft);
        box-shadow: var(--shadow-overlay);
        color: var(--color-warning);
        font-size: var(--text-sm);
        pointer-events: auto;
      }
      @media (max-width: 56rem) {
        :host {
          bottom: calc(4.25rem + env(safe-area-inset-bottom));
          left: 0;
        }
        p {
          border-radius: var(--radius-lg);
        }
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** `connecting` is both the begin of the first stream and a part of each new attempt. */
  override willUpdate(): void {
    const { connection } = this;
    if (connection === 'waiting') this.#timer ??= setTimeout(() => (this.isShown = true), PATIENCE_MS);
    else if (connection === 'failed') this.isShown = true;
    else if (connection !== 'connecting') this.#hide();
  }

  override updated(changed: PropertyValues): void {
    if (!changed.has('isShown')) return;
    this.dispatchEvent(new CustomEvent('svc-shown', { detail: this.isShown }));
  }

  override render() {
    return html`<div role="status">
      ${this.isShown ? html`<p>${icon('away')}<span>${this.#text}</span></p>` : nothing}
    </div>`;
  }

  get #text(): string {
    if (this.connection === 'failed')
      return 'Not live: the server refused the live stream. Pages refresh every few seconds.';
    return 'The connection to the server is lost. What you see may be out of date. Reconnecting…';
  }

  #hide(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isShown = false;
  }
}
