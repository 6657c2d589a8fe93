import { LitElement, css, html } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

interface Toast {
  id: number;
  text: string;
  isError: boolean;
}

const SHOW_MS = 5000;

/** Says what came of an action. An error stays until it is closed. */
export function toast(text: string, { isError = false } = {}): void {
  window.dispatchEvent(new CustomEvent('svc-toast', { detail: { text, isError } }));
}

/** Where toasts appear. */
@customElement('svc-toasts')
export class SvcToasts extends LitElement {
  @state() private toasts: Toast[] = [];
  #nextId = 1;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        position: fixed;
        z-index: 30;
        right: var(--space-4);
        bottom: var(--space-4);
        width: min(24rem, calc(100vw - 2 * var(--space-4)));
      }
      ul {
        display: grid;
        gap: var(--space-2);
      }
      li {
        display: flex;
        align-items: flex-start;
        gap: var(--space-3);
        padding: var(--space-2) var(--space-2) var(--space-2) var(--space-3);
        border-radius: var(--radius-lg);
        background: var(--color-overlay);
        box-shadow: var(--shadow-overlay);
        font-size: var(--text-sm);
        --icon-ground: var(--color-overlay);
        --control-height: 1.75rem;
      }
      li > .icon {
        margin-top: 0.4rem;
        color: var(--color-success);
      }
      li.error > .icon {
        color: var(--color-danger);
      }
      li span {
        flex: 1;
        padding: 0.25rem 0;
        overflow-wrap: anywhere;
      }
      @media (max-width: 56rem) {
        :host {
          bottom: calc(4.25rem + env(safe-area-inset-bottom));
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('svc-toast', this.#onToast);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('svc-toast', this.#onToast);
  }

  override render() {
    return html`<div role="status" aria-live="polite">
      <ul>
        ${repeat(
          this.toasts,
          ({ id }) => id,
          ({ id, text, isError }) =>
            html`<li class=${isError ? 'error' : ''}>
              ${icon(isError ? 'critical' : 'succeeded')}<span>${text}</span>
              <button class="button plain icon" aria-label="Close" @click=${() => this.#close(id)}>
                ${icon('cross', 14)}
              </button>
            </li>`,
        )}
      </ul>
    </div>`;
  }

  readonly #onToast = (event: Event): void => {
    const { text, isError } = (event as CustomEvent<Omit<Toast, 'id'>>).detail;
    const id = this.#nextId++;
    this.toasts = [...this.toasts.slice(-3), { id, text, isError }];
    if (!isError) setTimeout(() => this.#close(id), SHOW_MS);
  };

  #close(id: number): void {
    this.toasts = this.toasts.filter((one) => one.id !== id);
  }
}
