import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { closingMenu } from '../closing-menu.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import type { ChartFile } from './chart-files.js';
import { chartIcon } from './chart-icons.js';

/** The buttons of a chart. Fires `svc-reset`, `svc-save` with a ChartFile, and `svc-toggle` of the full size. */
@customElement('svc-chart-tools')
export class SvcChartTools extends LitElement {
  @property() heading = '';
  @property({ type: Boolean }) zoomed = false;
  @property({ type: Boolean }) full = false;
  /** The server can give every point. */
  @property({ type: Boolean }) exportable = false;
  @query('details') private readonly menu!: HTMLDetailsElement;
  @query('.full') private readonly toggle!: HTMLButtonElement;

  static override styles = [
    baseStyles,
    iconStyles,
    css`
      :host {
        display: flex;
        gap: var(--space-1);
      }
      button,
      summary {
        border: 0;
        border-radius: var(--radius-sm);
        background: none;
        color: var(--color-text-3);
        font: inherit;
        font-size: var(--text-sm);
        cursor: pointer;
      }
      .icon-button {
        display: grid;
        place-content: center;
        width: 1.5rem;
        height: 1.5rem;
        list-style: none;
      }
      summary::-webkit-details-marker {
        display: none;
      }
      button:hover,
      summary:hover,
      details[open] summary {
        background: var(--color-hover);
        color: var(--color-text);
      }
      details {
        position: relative;
      }
      .menu {
        position: absolute;
        z-index: 5;
        top: calc(100% + var(--space-1));
        right: 0;
        display: grid;
        width: max-content;
        max-width: 16rem;
        padding: var(--space-1);
        border-radius: var(--radius-md);
        background: var(--color-overlay);
        box-shadow: var(--shadow-overlay);
      }
      .menu button {
        padding: var(--space-2) var(--space-3);
        color: var(--color-text);
        text-align: left;
      }
      @media (pointer: coarse) {
        .icon-button {
          width: 2rem;
          height: 2rem;
        }
      }
    `,
  ];

  override render() {
    return html`${
        this.zoomed
          ? html`<button
              class="icon-button"
              title="Show all (double click)"
              aria-label="Show all of ${this.heading}"
              @click=${() => this.#fire('svc-reset')}
            >
              ${chartIcon('reset')}
            </button>`
          : nothing
      }
      <details ${closingMenu()}>
        <summary class="icon-button" title="Download" aria-label="Download ${this.heading}">
          ${chartIcon('download')}
        </summary>
        <div class="menu">
          ${this.#renderItem('PNG image', 'png')} ${this.#renderItem('CSV of the points shown', 'csv')}
          ${this.exportable ? this.#renderItem('CSV of every point, from the server', 'all') : nothing}
        </div>
      </details>
      <button
        class="icon-button full"
        title=${this.full ? 'Close (Escape)' : 'Full size'}
        aria-label="${this.full ? 'Close' : 'Full size of'} ${this.heading}"
        @click=${() => this.#fire('svc-toggle')}
      >
        ${chartIcon(this.full ? 'close' : 'expand')}
      </button>`;
  }

  /** On the button of the full size. */
  override focus(): void {
    this.toggle.focus({ preventScroll: true });
  }

  #renderItem(label: string, file: ChartFile) {
    return html`<button
      @click=${() => {
        this.#close();
        this.#fire('svc-save', file);
      }}
    >
      ${label}
    </button>`;
  }

  #fire(name: string, detail: ChartFile | null = null): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #close(): void {
    this.menu.open = false;
    this.menu.querySelector('summary')?.focus();
  }
}
