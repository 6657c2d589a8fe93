import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { ApiError } from '../data/api.js';
import { isAwayContext } from '../data/contexts.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

/**
 * Says above old content that it could not be refreshed, and why. Fires `svc-retry`. While the connection is lost the banner says it for the
 * whole page, and what failed meanwhile is loaded again by itself: nothing is said here, so that nothing moves.
 */
@customElement('svc-stale')
export class SvcStale extends LitElement {
  @property({ attribute: false }) error: ApiError | null = null;
  @consume({ context: isAwayContext, subscribe: true }) @state() private isAway = false;
  #ofAway: ApiError | null = null;

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

  override willUpdate(): void {
    if (this.isAway) this.#ofAway = this.error;
  }

  override render() {
    if (!this.error || this.error === this.#ofAway) return nothing;
    return html`<p role="status">
      ${icon('warning')}<span>This may be out of date. ${this.error.message}</span>
      <button class="button plain" @click=${() => this.dispatchEvent(new CustomEvent('svc-retry'))}>
        Try again
      </button>
    </p>`;
  }
}
