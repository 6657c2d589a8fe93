import { LitElement, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import { isAbort, toApiError, type Api } from '../data/api.js';
import { Search } from '../data/search.js';
import { plural } from '../format.js';
import { navigate } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { entriesOf, filterEntries, type PaletteEntry } from './palette-entries.js';
import { paletteStyles } from './palette-styles.js';

const TYPING_MS = 150;

/** One field to go anywhere: pages and actions at once, jobs, runs and nodes as the server finds them. `open()` shows it. */
@customElement('svc-palette')
export class SvcPalette extends LitElement {
  @property({ attribute: false }) api!: Api;
  /** Pages and actions. */
  @property({ attribute: false }) entries: readonly PaletteEntry[] = [];
  @state() private text = '';
  @state() private found: readonly PaletteEntry[] = [];
  @state() private problem = '';
  @state() private isSearching = false;
  @state() private current = 0;
  @query('dialog') private readonly dialog!: HTMLDialogElement;
  @query('input') private readonly input!: HTMLInputElement;
  #search: Search | null = null;
  #request: AbortController | null = null;
  #typing: ReturnType<typeof setTimeout> | undefined;

  static override styles = [baseStyles, controlStyles, iconStyles, paletteStyles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#reset();
  }

  /** `text`: what was typed already. */
  async open(text = ''): Promise<void> {
    await this.updateComplete;
    if (this.dialog.open) return;
    this.#search = new Search(this.api);
    this.dialog.showModal();
    this.input.focus();
    if (text !== '') this.#type(text);
  }

  override render() {
    const shown = this.#shown;
    return html`<dialog
      aria-label="Search and commands"
      @close=${() => this.#reset()}
      @click=${(event: Event) => event.target === this.dialog && this.dialog.close()}
    >
      <div class="box">
        <div class="field">
          ${icon('search')}
          <input
            role="combobox"
            aria-label="Go to a page, job, run or node, or do something"
            aria-expanded="true"
            aria-controls="results"
            aria-autocomplete="list"
            aria-activedescendant=${shown.length > 0 ? `entry-${this.#at}` : nothing}
            placeholder="Pages, jobs, runs, nodes, actions…"
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            maxlength="200"
            .value=${this.text}
            @input=${this.#onInput}
            @keydown=${this.#onKey}
          />
          <button
            class="button plain icon"
            aria-label="Close"
            title="Close (Esc)"
            @click=${() => this.dialog.close()}
          >
            ${icon('cross', 14)}
          </button>
        </div>
        <div class="results" id="results" role="listbox" aria-label="Results">
          ${shown.map((entry, at) => this.#renderEntry(entry, at, shown[at - 1]?.group))}
        </div>
        ${this.#renderFoot(shown.length)}
      </div>
    </dialog>`;
  }

  /** Each group begins with its name, which is for the eye: every option tells its group by itself. */
  #renderEntry(entry: PaletteEntry, at: number, groupBefore: string | undefined) {
    const { group, label, detail } = entry;
    return html`${group === groupBefore ? nothing : html`<div class="group" role="presentation">${group}</div>`}
      <div
        class="entry"
        id="entry-${at}"
        role="option"
        aria-selected=${at === this.#at ? 'true' : 'false'}
        @mousemove=${() => (this.current = at)}
        @click=${() => this.#choose(entry)}
      >
        ${icon(entry.icon)}<span class="label truncate" title=${label}>${label}</span>
        ${detail === undefined ? nothing : html`<span class="detail">${detail}</span>`}
      </div>`;
  }

  #renderFoot(count: number) {
    const isNothing = count === 0 && !this.isSearching && this.problem === '';
    return html`<p class="foot ${this.problem === '' ? '' : 'bad'}" role="status">
      ${
        this.problem !== ''
          ? `Jobs, runs and nodes could not be searched. ${this.problem}`
          : this.isSearching
            ? 'Searching…'
            : isNothing
              ? 'Nothing has these words in its name, and no id begins or ends so.'
              : plural(count, 'result')
      }
    </p>`;
  }

  get #shown(): PaletteEntry[] {
    return [...filterEntries(this.entries, this.text), ...this.found];
  }

  get #at(): number {
    return Math.min(this.current, this.#shown.length - 1);
  }

  readonly #onInput = (): void => this.#type(this.input.value);

  #type(text: string): void {
    this.text = text;
    this.current = 0;
    clearTimeout(this.#typing);
    this.#request?.abort();
    this.problem = '';
    this.isSearching = this.text.trim() !== '';
    if (!this.isSearching) this.found = [];
    else this.#typing = setTimeout(() => void this.#find(), TYPING_MS);
  }

  async #find(): Promise<void> {
    const { signal } = (this.#request = new AbortController());
    try {
      const text = this.text.trim();
      const found = await this.#search!.find(text, signal);
      if (signal.aborted) return;
      this.found = entriesOf(found, text);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.found = [];
      this.problem = toApiError(error).message;
    }
    this.isSearching = false;
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const last = this.#shown.length - 1;
    const at = this.#at;
    if (event.isComposing || last < 0) return;
    if (event.key === 'ArrowDown') this.#goTo(at === last ? 0 : at + 1);
    else if (event.key === 'ArrowUp') this.#goTo(at <= 0 ? last : at - 1);
    else if (event.key === 'Enter') this.#choose(this.#shown[at]!);
    else return;
    event.preventDefault();
  };

  #goTo(at: number): void {
    this.current = at;
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector(`#entry-${at}`)?.scrollIntoView({ block: 'nearest' }),
    );
  }

  #choose({ choose }: PaletteEntry): void {
    this.dialog.close();
    if (typeof choose === 'function') choose();
    else navigate(choose.path);
  }

  #reset(): void {
    clearTimeout(this.#typing);
    this.#request?.abort();
    this.text = this.problem = '';
    this.found = [];
    this.current = 0;
    this.isSearching = false;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-palette': SvcPalette;
  }
}
