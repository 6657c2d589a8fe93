import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { isAbort, toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { Search, type Found } from '../data/search.js';
import { plural, shortId } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';
import { statusLabel } from './svc-status.js';

export type RecordKind = 'job' | 'run' | 'node';

/** A job, run or node that was found. */
interface Choice {
  readonly kind: RecordKind;
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

export type ChosenRecord = Pick<Choice, 'kind' | 'id'>;

const TYPING_MS = 200;
const MOST_OF_EACH = 6;
const ICONS = { job: 'jobs', run: 'runs', node: 'nodes' } as const;

/**
 * A field that finds jobs, runs and nodes by their name, their id or the part of it that the console shows, and offers what fits. Fires
 * `svc-record` with the one that is chosen.
 */
@customElement('svc-record-search')
export class SvcRecordSearch extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() label = '';
  @property() placeholder = '';
  @property({ attribute: false }) kinds: readonly RecordKind[] = ['job', 'run', 'node'];
  /** null: nothing has been searched for. */
  @state() private choices: readonly Choice[] | null = null;
  @state() private problem = '';
  @state() private current = 0;
  @query('input') private readonly input!: HTMLInputElement;
  #typing: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | null = null;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        position: relative;
        display: block;
      }
      .input {
        width: 100%;
      }
      .offer {
        position: absolute;
        z-index: 3;
        top: calc(100% + var(--space-1));
        right: 0;
        width: max(100%, min(26rem, calc(100vw - 2rem)));
        padding: var(--space-1);
        border-radius: var(--radius-lg);
        background: var(--color-overlay);
        box-shadow: var(--shadow-overlay);
        font-size: var(--text-sm);
      }
      .option {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        min-height: 2.25rem;
        padding: 0 var(--space-2);
        border-radius: var(--radius-md);
        cursor: pointer;
      }
      .option .icon {
        flex: none;
        color: var(--color-text-3);
      }
      .name {
        flex: 1;
        min-width: 0;
      }
      .detail,
      .nothing {
        color: var(--color-text-2);
      }
      .nothing {
        padding: var(--space-2);
      }
      .option[aria-selected='true'] {
        background: var(--color-accent-soft);
        color: var(--color-accent);
      }
      .option[aria-selected='true'] :is(.icon, .detail) {
        color: inherit;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#close();
  }

  override render() {
    const { choices } = this;
    const isOpen = choices !== null && choices.length > 0;
    return html`<input
        class="input"
        type="search"
        role="combobox"
        aria-label=${this.label}
        aria-expanded=${isOpen ? 'true' : 'false'}
        aria-controls="offer"
        aria-autocomplete="list"
        aria-activedescendant=${isOpen ? `option-${this.current}` : nothing}
        placeholder=${this.placeholder}
        spellcheck="false"
        autocomplete="off"
        maxlength="200"
        @input=${this.#onInput}
        @keydown=${this.#onKey}
        @blur=${() => this.#close()}
      />
      <div class="offer" id="offer" role="listbox" aria-label="Found" ?hidden=${!isOpen}>
        ${choices?.map((choice, at) => this.#renderChoice(choice, at))}
      </div>
      ${this.#renderState()}`;
  }

  #renderChoice({ kind, id, name, status }: Choice, at: number) {
    // The field keeps the focus, which the pointer would take.
    return html`<div
      class="option"
      id="option-${at}"
      role="option"
      aria-selected=${at === this.current ? 'true' : 'false'}
      @mousemove=${() => (this.current = at)}
      @mousedown=${(event: Event) => event.preventDefault()}
      @click=${() => this.#choose({ kind, id })}
    >
      ${icon(ICONS[kind])}<span class="name truncate" title=${name}>${name}</span>
      <span class="detail">${kind} ${shortId(id)} · ${statusLabel(status)}</span>
    </div>`;
  }

  #renderState() {
    const { choices, problem } = this;
    const isNothing = problem === '' && choices?.length === 0;
    const said = problem || (isNothing ? `No ${this.#kindWords} has this name or id.` : '');
    if (said !== '') return html`<div class="offer"><p class="nothing" role="status">${said}</p></div>`;
    return html`<span class="visually-hidden" role="status"
      >${choices === null ? '' : plural(choices.length, 'result')}</span
    >`;
  }

  get #kindWords(): string {
    return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(this.kinds);
  }

  readonly #onInput = (): void => {
    this.#close();
    if (this.input.value.trim() !== '') this.#typing = setTimeout(() => void this.#find(), TYPING_MS);
  };

  async #find(): Promise<void> {
    const { signal } = (this.#request = new AbortController());
    try {
      const text = this.input.value.trim();
      const found = await new Search(this.api).find(text, signal);
      if (signal.aborted) return;
      this.choices = toChoices(found, text).filter(({ kind }) => this.kinds.includes(kind));
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) this.problem = toApiError(error).message;
    }
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const count = this.choices?.length ?? 0;
    if (event.isComposing) return;
    if (event.key === 'Escape' && (this.choices !== null || this.problem !== '')) this.#close();
    else if (event.key === 'Enter') this.#take();
    else if (count > 0 && event.key === 'ArrowDown') this.current = (this.current + 1) % count;
    else if (count > 0 && event.key === 'ArrowUp') this.current = (this.current + count - 1) % count;
    else return;
    event.preventDefault();
  };

  /** The one that is marked, or at once the search for what has just been typed. */
  #take(): void {
    const choice = this.choices?.[this.current];
    if (choice) return this.#choose(choice);
    if (this.choices !== null || this.input.value.trim() === '') return;
    this.#close();
    void this.#find();
  }

  #choose({ kind, id }: ChosenRecord): void {
    this.#close();
    this.input.value = '';
    this.dispatchEvent(new CustomEvent<ChosenRecord>('svc-record', { detail: { kind, id } }));
  }

  #close(): void {
    clearTimeout(this.#typing);
    this.#request?.abort();
    this.choices = null;
    this.problem = '';
    this.current = 0;
  }
}

/** Of each kind some: those of exactly that name first. */
function toChoices({ jobs, runs, nodes }: Found, text: string): Choice[] {
  const of = (kind: RecordKind, records: readonly Omit<Choice, 'kind'>[]): Choice[] =>
    [...records]
      .sort((a, b) => Number(b.name === text) - Number(a.name === text))
      .slice(0, MOST_OF_EACH)
      .map(({ id, name, status }) => ({ kind, id, name, status }));
  return [...of('job', jobs), ...of('run', runs), ...of('node', nodes)];
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-record-search': SvcRecordSearch;
  }
}
