import { partDone, percentDone } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { formatCount } from '../format.js';
import { baseStyles } from '../styles/shared.js';

/** Step of max_steps, as a bar and in figures. Without a maximum only the step is said, and past it no percentage. */
@customElement('svc-progress')
export class SvcProgress extends LitElement {
  @property({ type: Number }) step: number | null = null;
  @property({ type: Number }) max: number | null = null;
  @property() status = 'RUNNING';

  static override styles = [
    baseStyles,
    css`
      :host {
        display: grid;
        gap: 0.25rem;
        min-width: 0;
      }
      .track {
        height: 0.25rem;
        border-radius: var(--radius-full);
        background: var(--color-neutral-soft);
        overflow: hidden;
      }
      .bar {
        height: 100%;
        border-radius: inherit;
        background: var(--bar, var(--color-line-control));
        transform-origin: left;
        transition: width var(--duration);
      }
      .RUNNING {
        --bar: var(--color-accent);
      }
      p {
        display: flex;
        gap: var(--space-2);
        justify-content: space-between;
        font-size: var(--text-xs);
        color: var(--color-text-2);
        white-space: nowrap;
      }
    `,
  ];

  override render() {
    if (this.step === null) return html`<p>–</p>`;
    if (this.max === null || this.max <= 0) return html`<p>step ${formatCount(this.step)}</p>`;
    // Past its plan nobody knows how much of it is done.
    if (this.step > this.max) return html`<p>${formatCount(this.step)} / ${formatCount(this.max)}</p>`;
    const progress = { status: this.status, step: this.step, max_steps: this.max };
    const part = partDone(progress) ?? 0;
    const percent = percentDone(progress);
    return html`
      <div
        class="track"
        role="progressbar"
        aria-label="Progress"
        aria-valuemin="0"
        aria-valuemax="100"
        aria-valuenow=${percent}
      >
        ${part > 0 ? html`<div class="bar ${this.status}" .style=${`width: ${part * 100}%`}></div>` : nothing}
      </div>
      <p><span>${formatCount(this.step)} / ${formatCount(this.max)}</span><span>${percent} %</span></p>
    `;
  }
}
