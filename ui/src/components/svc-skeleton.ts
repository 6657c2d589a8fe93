import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { baseStyles } from '../styles/shared.js';

const MOMENT_MS = 150;
/** When one was last in sight. */
let lastSeenMs = -Infinity;

/**
 * Holds the place of rows that are being loaded. Shows nothing in the first moment: a fast answer does not flicker. One that follows another at once (the
 * page's code, then its record) is there at once.
 */
@customElement('svc-skeleton')
export class SvcSkeleton extends LitElement {
  @property({ type: Number }) rows = 5;
  #sinceMs = 0;

  static override styles = [
    baseStyles,
    css`
      :host(:not([following])) {
        opacity: 0;
        animation: appear 0s ${MOMENT_MS}ms forwards;
      }
      div {
        display: flex;
        align-items: center;
        gap: var(--space-4);
        height: 2.375rem;
        padding: 0 var(--space-4);
      }
      div + div {
        border-top: 1px solid var(--color-line);
      }
      span {
        height: 0.625rem;
        border-radius: var(--radius-full);
        background: var(--color-neutral-soft);
      }
      span:first-child {
        width: 5rem;
      }
      span:last-child {
        width: 32%;
      }
      div:nth-of-type(3n) span:last-child {
        width: 21%;
      }
      div:nth-of-type(4n + 1) span:last-child {
        width: 41%;
      }
      @keyframes appear {
        to {
          opacity: 1;
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sinceMs = performance.now();
    this.toggleAttribute('following', this.#sinceMs - lastSeenMs < MOMENT_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    const now = performance.now();
    if (this.hasAttribute('following') || now - this.#sinceMs > MOMENT_MS) lastSeenMs = now;
  }

  override render() {
    return html`<p class="visually-hidden">Loading</p>
      ${Array.from(
        { length: this.rows },
        () => html`<div aria-hidden="true"><span></span><span></span></div>`,
      )}`;
  }
}
