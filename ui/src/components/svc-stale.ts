import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { ApiError } from '../data/api.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

/** Says above old content that it could not be refreshed, and why. Fires `svc-retry`. */
@customElement('svc-stale')
export class SvcStale extends LitElement {
  @property({ attribute: false }) error: ApiError | null = null;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      p {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        margin-bottom: var(--space-3);
        padding: var(--space-1) var(--space-1) var(--space-1) var(--space-3);
        border-radius: var(--radius-md);
        background: var(--color-warning-soft);
        color: var(--color-warning);
        font-size: var(--text-sm);
        --control-height: 1.75rem;
      }
      span {
        flex: 1;
        min-width: 0;
        overflow-wrap: anywhere;
      }
      .button {
        color: inherit;
      }
    `,
  ];

  override render() {
    if (!this.error) return nothing;
    return html`<p role="status">
      ${icon('warning')}<span>This may be out of date. ${this.error.message}</span>
      <button class="button plain" @click=${() => this.dispatchEvent(new CustomEvent('svc-retry'))}>
        Try again
      </button>
    </p>`;
  }
}
