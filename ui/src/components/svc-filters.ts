import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { formatCount } from '../format.js';
import { chipStyles } from '../styles/filter-styles.js';
import { baseStyles } from '../styles/shared.js';

export interface FilterChoice {
  /** null: everything. */
  readonly value: string | null;
  readonly label: string;
  /** How many there are; undefined while that is unknown. */
  readonly count?: number | undefined;
}

/** Longer than any choice; an address may have more. */
const SHOWN_CHARS = 100;

/** Choices of which one is on, and in the slot further filters. A value that is no choice is said to be none. Fires `svc-filter` with the value that was chosen. */
@customElement('svc-filters')
export class SvcFilters extends LitElement {
  @property() label = 'Filter';
  @property({ attribute: false }) choices: readonly FilterChoice[] = [];
  @property({ attribute: false }) value: string | null = null;

  static override styles = [
    baseStyles,
    chipStyles,
    css`
      div {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1);
        margin-bottom: var(--space-3);
      }
      .unknown {
        margin-bottom: var(--space-3);
        color: var(--color-danger);
        font-size: var(--text-sm);
        overflow-wrap: anywhere;
      }
      @media (max-width: 56rem) {
        div {
          gap: var(--space-2);
        }
      }
    `,
  ];

  override render() {
    return html`<div role="group" aria-label=${this.label}>
        ${this.choices.map((choice) => this.#renderChoice(choice))}<slot></slot>
      </div>
      ${this.#renderUnknown()}`;
  }

  #renderUnknown() {
    const { value } = this;
    if (!value || this.choices.some((choice) => choice.value === value)) return nothing;
    return html`<p class="unknown" role="status">
      ${this.label}: there is no “<bdi>${value.slice(0, SHOWN_CHARS)}</bdi>”.
      <button class="chip" @click=${() => this.#choose(null)}>Show all</button>
    </p>`;
  }

  #renderChoice({ value, label, count }: FilterChoice) {
    return html`<button
      class="chip"
      aria-pressed=${value === this.value ? 'true' : 'false'}
      @click=${() => this.#choose(value)}
    >
      ${label}${count === undefined ? '' : html`<span class="count">${formatCount(count)}</span>`}
    </button>`;
  }

  #choose(value: string | null): void {
    this.dispatchEvent(new CustomEvent('svc-filter', { detail: value }));
  }
}
