import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { formatCount } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { columnHint, columnId, columnTitle, type Column } from '../table/columns.js';
import { icon } from './icons.js';

export interface ColumnSection {
  readonly title: string;
  readonly columns: readonly Column[];
}

/** So many of a section are offered at once; the search finds the others. */
const MOST_SHOWN = 60;

/**
 * The columns of a table: which of those there are, found by a search, and in which order, by dragging or with the arrow keys. Fires
 * `svc-columns` with each change; null: those of the beginning.
 */
@customElement('svc-column-picker')
export class SvcColumnPicker extends LitElement {
  @property({ attribute: false }) sections: readonly ColumnSection[] = [];
  @property({ attribute: false }) chosen: readonly Column[] = [];
  @state() private needle = '';
  @state() private dragged: string | null = null;
  @state() private said = '';
  @query('dialog') private readonly dialog!: HTMLDialogElement;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: contents;
      }
      dialog {
        width: min(44rem, calc(100vw - 2rem));
        max-height: min(40rem, calc(100dvh - 4rem));
        padding: 0;
        border: 0;
        border-radius: var(--radius-lg);
        background: var(--color-overlay);
        color: var(--color-text);
        box-shadow: var(--shadow-overlay);
      }
      dialog[open] {
        display: flex;
        flex-direction: column;
      }
      dialog::backdrop {
        background: var(--color-backdrop);
      }
      header,
      footer {
        display: flex;
        align-items: center;
        gap: var(--space-3);
        padding: var(--space-3) var(--space-4);
      }
      header {
        border-bottom: 1px solid var(--color-line);
      }
      footer {
        justify-content: flex-end;
        border-top: 1px solid var(--color-line);
      }
      header .input {
        flex: 1;
        max-width: 20rem;
        margin-left: auto;
      }
      .halves {
        display: grid;
        grid-template-columns: 1fr 1fr;
        flex: 1;
        min-height: 0;
      }
      .half {
        min-width: 0;
        max-height: 26rem;
        padding: var(--space-3) var(--space-2);
        overflow-y: auto;
      }
      .half + .half {
        border-left: 1px solid var(--color-line);
      }
      h3 {
        padding: var(--space-2) var(--space-2) var(--space-1);
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-weight: var(--weight-medium);
      }
      li {
        border-radius: var(--radius-sm);
        font-size: var(--text-sm);
      }
      li:hover {
        background: var(--color-hover);
      }
      label,
      .one {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        min-height: 1.875rem;
        padding: 0 var(--space-2);
      }
      .one {
        padding-right: 0;
        cursor: grab;
        --control-height: 1.75rem;
      }
      li.dragged {
        opacity: 0.4;
      }
      input[type='checkbox'] {
        flex: none;
        margin: 0;
        accent-color: var(--color-accent);
      }
      .title {
        flex: 1;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .kind {
        flex: none;
        padding: 0 0.3125rem;
        border-radius: var(--radius-sm);
        background: var(--color-neutral-soft);
        color: var(--color-neutral);
        font-size: var(--text-xs);
      }
      .grip {
        flex: none;
        color: var(--color-text-3);
        letter-spacing: -1px;
      }
      .rest {
        padding: var(--space-1) var(--space-2);
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      @media (max-width: 40rem) {
        .halves {
          grid-template-columns: 1fr;
          overflow-y: auto;
        }
        .half {
          max-height: none;
          overflow: visible;
        }
        .half + .half {
          border-top: 1px solid var(--color-line);
          border-left: 0;
        }
        header {
          flex-wrap: wrap;
        }
        header .input {
          flex-basis: 100%;
          max-width: none;
        }
      }
    `,
  ];

  open(): void {
    this.needle = '';
    this.said = '';
    this.dialog.showModal();
  }

  override render() {
    return html`<dialog aria-labelledby="title" @click=${this.#onBackdrop}>
      <header>
        <h2 id="title">Columns</h2>
        <input
          class="input"
          type="search"
          placeholder="Search metrics and config"
          aria-label="Search columns"
          spellcheck="false"
          .value=${live(this.needle)}
          @input=${(event: Event) => (this.needle = (event.target as HTMLInputElement).value)}
        />
      </header>
      <div class="halves">
        <div class="half" role="group" aria-label="Available columns" tabindex="0">
          ${this.sections.map((section) => this.#renderSection(section))}
          ${this.#matchCount === 0 ? html`<p class="rest">No column’s name contains “${this.needle}”.</p>` : nothing}
        </div>
        <div class="half" role="group" aria-label="Shown columns" tabindex="0">
          <h3>Shown, in this order</h3>
          <ol>
            ${repeat(this.chosen, columnId, (column, at) => this.#renderChosen(column, at))}
          </ol>
          ${this.chosen.length === 0 ? html`<p class="rest">Only the name of the run.</p>` : nothing}
        </div>
      </div>
      <footer>
        <button class="button plain" @click=${() => this.#fire(null)}>Reset</button>
        <button class="button primary" @click=${() => this.dialog.close()}>Done</button>
      </footer>
      <p class="visually-hidden" role="status">${this.said}</p>
    </dialog>`;
  }

  #renderSection({ title, columns }: ColumnSection) {
    const matching = columns.filter((column) => this.#isMatching(column));
    if (matching.length === 0) return nothing;
    const shown = matching.slice(0, MOST_SHOWN);
    const rest = matching.length - shown.length;
    return html`<h3>${title}</h3>
      <ul>
        ${shown.map((column) => this.#renderChoice(column))}
      </ul>
      ${rest > 0 ? html`<p class="rest">${formatCount(rest)} more: search for them.</p>` : nothing}`;
  }

  #renderChoice(column: Column) {
    const id = columnId(column);
    return html`<li>
      <label title=${columnTitle(column)}
        ><input
          type="checkbox"
          .checked=${live(this.#chosenIds.includes(id))}
          @change=${() => this.#toggle(column)}
        />${renderKind(column)}<span class="title">${columnTitle(column)}</span></label
      >
    </li>`;
  }

  #renderChosen(column: Column, at: number) {
    const id = columnId(column);
    const title = `${columnHint(column)} ${columnTitle(column)}`.trim();
    return html`<li
      class=${this.dragged === id ? 'dragged' : ''}
      draggable="true"
      @dragstart=${(event: DragEvent) => this.#onDragStart(event, id)}
      @dragover=${(event: DragEvent) => this.#onDragOver(event, at)}
      @dragend=${() => (this.dragged = null)}
      @drop=${(event: DragEvent) => event.preventDefault()}
    >
      <div class="one" title=${title}>
        <span class="grip" aria-hidden="true">⋮⋮</span>${renderKind(column)}
        <span class="title">${columnTitle(column)}</span>
        <button
          class="button plain icon"
          aria-label="Move ${title} up"
          ?disabled=${at === 0}
          @click=${() => this.#move(at, at - 1)}
        >
          ${icon('up', 14)}
        </button>
        <button
          class="button plain icon"
          aria-label="Move ${title} down"
          ?disabled=${at === this.chosen.length - 1}
          @click=${() => this.#move(at, at + 1)}
        >
          ${icon('down', 14)}
        </button>
        <button class="button plain icon" aria-label="Hide ${title}" @click=${() => this.#toggle(column)}>
          ${icon('cross', 14)}
        </button>
      </div>
    </li>`;
  }

  get #chosenIds(): string[] {
    return this.chosen.map(columnId);
  }

  get #matchCount(): number {
    return this.sections.flatMap(({ columns }) => columns).filter((column) => this.#isMatching(column))
      .length;
  }

  #isMatching(column: Column): boolean {
    return `${columnHint(column)} ${columnTitle(column)}`
      .toLowerCase()
      .includes(this.needle.trim().toLowerCase());
  }

  #toggle(column: Column): void {
    const id = columnId(column);
    const others = this.chosen.filter((one) => columnId(one) !== id);
    const isShown = others.length < this.chosen.length;
    this.said = `${columnTitle(column)} is ${isShown ? 'hidden' : 'shown'}.`;
    this.#fire(isShown ? others : [...this.chosen, column]);
  }

  #move(from: number, to: number): void {
    const columns = [...this.chosen];
    const [moved] = columns.splice(from, 1);
    if (moved === undefined) return;
    columns.splice(to, 0, moved);
    this.said = `${columnTitle(moved)} is column ${to + 1} of ${columns.length}.`;
    this.#fire(columns);
  }

  #onDragStart(event: DragEvent, id: string): void {
    event.dataTransfer?.setData('text/plain', id);
    this.dragged = id;
  }

  #onDragOver(event: DragEvent, at: number): void {
    if (this.dragged === null) return;
    event.preventDefault();
    const from = this.#chosenIds.indexOf(this.dragged);
    if (from !== at) this.#move(from, at);
  }

  readonly #onBackdrop = (event: MouseEvent): void => {
    if (event.target === this.dialog) this.dialog.close();
  };

  #fire(columns: readonly Column[] | null): void {
    this.dispatchEvent(new CustomEvent('svc-columns', { detail: columns }));
  }
}

function renderKind(column: Column) {
  const hint = columnHint(column);
  return hint === '' ? nothing : html`<span class="kind">${hint}</span>`;
}
