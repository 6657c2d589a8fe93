import { MAX_TAGS } from '@svc/contract/protocol';
import { LitElement, css, html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { baseStyles, controlStyles } from '../styles/shared.js';

const MAX_CHARACTERS = 100;

/** Tags that can be taken away, and a field for another one, which Enter or a comma adds. Fires `svc-tags`. */
@customElement('svc-tag-field')
export class SvcTagField extends LitElement {
  @property({ attribute: false }) tags: readonly string[] = [];
  @state() private draft = '';

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      .field {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1);
        min-height: var(--control-height);
        max-height: 9rem;
        padding: 0.1875rem var(--space-1);
        border: 1px solid var(--color-line-control);
        border-radius: var(--radius-md);
        background: var(--color-surface);
        overflow-y: auto;
      }
      .tag {
        display: inline-flex;
        align-items: center;
        max-width: 100%;
        border-radius: var(--radius-sm);
        background: var(--color-neutral-soft);
        color: var(--color-neutral);
        font-size: var(--text-sm);
      }
      .tag span {
        padding-left: 0.375rem;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .tag button {
        flex: none;
        width: 1.5rem;
        height: 1.5rem;
        padding: 0;
        border: 0;
        border-radius: var(--radius-sm);
        background: none;
        color: inherit;
        cursor: pointer;
      }
      .tag button:hover {
        background: var(--color-hover);
      }
      input {
        flex: 1;
        min-width: 7rem;
        height: 1.5rem;
        padding: 0 0.375rem;
        border: 0;
        background: none;
        font-size: var(--text-sm);
        outline-offset: 0;
      }
      input::placeholder {
        color: var(--color-text-3);
        opacity: 1;
      }
    `,
  ];

  override render() {
    const isFull = this.tags.length >= MAX_TAGS;
    return html`<div class="field">
      ${this.tags.map((tag) => this.#renderTag(tag))}
      <input
        aria-label="Add a tag"
        placeholder=${isFull ? `At most ${MAX_TAGS} tags` : 'Add a tag'}
        maxlength=${MAX_CHARACTERS}
        spellcheck="false"
        ?disabled=${isFull}
        .value=${live(this.draft)}
        @input=${(event: Event) => (this.draft = (event.target as HTMLInputElement).value)}
        @keydown=${this.#onKey}
        @blur=${() => this.#add()}
      />
    </div>`;
  }

  #renderTag(tag: string) {
    return html`<span class="tag" title=${tag}
      ><span>${tag}</span
      ><button type="button" aria-label="Remove the tag ${tag}" @click=${() => this.#remove(tag)}>
        ×
      </button></span
    >`;
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ',') {
      event.preventDefault();
      this.#add();
    } else if (event.key === 'Backspace' && this.draft === '' && this.tags.length > 0) {
      this.#remove(this.tags.at(-1)!);
    }
  };

  #add(): void {
    const tag = this.draft.trim();
    this.draft = '';
    if (tag !== '' && !this.tags.includes(tag)) this.#fire([...this.tags, tag]);
  }

  #remove(tag: string): void {
    this.#fire(this.tags.filter((one) => one !== tag));
    this.renderRoot.querySelector('input')?.focus();
  }

  #fire(tags: readonly string[]): void {
    this.tags = tags;
    this.dispatchEvent(new CustomEvent('svc-tags', { detail: tags }));
  }
}
