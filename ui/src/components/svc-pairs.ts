import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import type { Pair } from '../data/job-draft.js';
import { formStyles } from '../styles/form-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { renderErrors } from './form-parts.js';
import { icon } from './icons.js';

/** Names with values, of which rows are added and removed. Fires `svc-pairs` with all of them. `covered`: values are dots until they are asked for. */
@customElement('svc-pairs')
export class SvcPairs extends LitElement {
  static override shadowRootOptions: ShadowRootInit = {
    ...LitElement.shadowRootOptions,
    delegatesFocus: true,
  };

  /** What one of them is: `variable`. */
  @property() noun = 'value';
  @property({ attribute: false }) pairs: readonly Pair[] = [];
  @property({ attribute: false }) errors: readonly string[] = [];
  @property({ type: Boolean }) covered = false;
  @state() private isShown = false;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    formStyles,
    css`
      :host {
        display: grid;
        gap: var(--space-2);
      }
      .pair {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1.4fr) auto;
        gap: var(--space-2);
      }
      .tools {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2);
        --control-height: 1.75rem;
      }
      @media (pointer: coarse) {
        .tools {
          --control-height: 2.5rem;
        }
      }
    `,
  ];

  override render() {
    const canCover = this.covered && this.pairs.length > 0;
    return html`${this.pairs.map((pair, at) => this.#renderPair(pair, at))}
      ${renderErrors({ id: 'pairs', label: this.noun, errors: this.errors })}
      <div class="tools">
        <button class="button" type="button" @click=${this.#add}>
          ${icon('plus', 14)}Add a ${this.noun}
        </button>
        ${
          canCover
            ? html`<button
                class="button plain"
                type="button"
                aria-pressed=${this.isShown ? 'true' : 'false'}
                @click=${() => (this.isShown = !this.isShown)}
              >
                ${icon('eye', 14)}${this.isShown ? 'Hide values' : 'Show values'}
              </button>`
            : nothing
        }
      </div>`;
  }

  #renderPair({ name, value }: Pair, at: number) {
    const which = name === '' ? `${this.noun} ${at + 1}` : name;
    const isInvalid = this.errors.length > 0;
    return html`<div class="pair">
      <input
        class="input code"
        aria-label="Name of ${this.noun} ${at + 1}"
        placeholder="NAME"
        spellcheck="false"
        autocomplete="off"
        autocapitalize="off"
        aria-invalid=${isInvalid ? 'true' : 'false'}
        aria-describedby=${isInvalid ? 'pairs-error' : nothing}
        .value=${live(name)}
        @input=${(event: Event) => this.#change(at, { name: textOf(event), value })}
      />
      <input
        class="input code ${this.covered && !this.isShown ? 'covered' : ''}"
        aria-label="Value of ${which}"
        placeholder="value"
        spellcheck="false"
        autocomplete="off"
        .value=${live(value)}
        @input=${(event: Event) => this.#change(at, { name, value: textOf(event) })}
      />
      <button
        class="button plain icon"
        type="button"
        aria-label="Remove ${which}"
        title="Remove"
        @click=${() => this.#remove(at)}
      >
        ${icon('cross', 14)}
      </button>
    </div>`;
  }

  readonly #add = async (): Promise<void> => {
    this.#set([...this.pairs, { name: '', value: '' }]);
    await this.#drawn();
    [...this.renderRoot.querySelectorAll<HTMLElement>('.pair')].at(-1)?.querySelector('input')?.focus();
  };

  async #remove(at: number): Promise<void> {
    this.#set(this.pairs.filter((_, other) => other !== at));
    await this.#drawn();
    this.renderRoot.querySelector<HTMLElement>('.tools .button')?.focus();
  }

  #change(at: number, pair: Pair): void {
    this.#set(this.pairs.with(at, pair));
  }

  #set(pairs: readonly Pair[]): void {
    this.pairs = pairs;
    this.dispatchEvent(new CustomEvent('svc-pairs', { detail: pairs }));
  }

  /** The owner may draw first. */
  async #drawn(): Promise<void> {
    await new Promise(requestAnimationFrame);
    await this.updateComplete;
  }
}

function textOf(event: Event): string {
  return (event.target as HTMLInputElement).value;
}
