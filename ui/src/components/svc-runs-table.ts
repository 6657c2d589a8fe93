import type { Run } from '@svc/contract';
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { formatCount } from '../format.js';
import { historyMemory, type Kept } from '../history-memory.js';
import { navigate, paths } from '../paths.js';
import { cutInMiddle } from '../run-names.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import type { Line, Sort } from '../table/arrange.js';
import { columnHint, columnId, columnTitle, isNumberColumn, type Column } from '../table/columns.js';
import { icon } from './icons.js';
import { runsTableStyles } from './runs-table-styles.js';
import './svc-status.js';
import './svc-time.js';

type RunLine = Line<Run>;

interface KeptScroll extends Kept {
  readonly question: string;
  readonly top: number;
  readonly left: number;
}

/** Rows above and below those in sight that are in the page too. */
const OVERSCAN = 6;
/** This close to the end `svc-near-end` is fired. */
const NEAR_END = 60;
const ROW_PX = 38;
const NAME_REM = { wide: 17, narrow: 13 };
/** What two lines of the column hold, whatever letters there are. */
const NAME_CHARS = { wide: 56, narrow: 38 };
const WIDTHS_REM: Readonly<Record<string, number>> = { status: 8, progress: 9.5, tags: 12, notes: 14 };

/**
 * Runs as rows of a grid in a box of its own: however many there are, only the rows in sight are in the page. Arrow keys move, Enter opens,
 * space selects. Fires `svc-sort` (the id of a column), `svc-select` (the id of a run), `svc-group` (the key of one), `svc-near-end`, and
 * `svc-in-sight` (the runs that are). Another question starts at the top, except for who comes back to it through the history of the browser.
 */
@customElement('svc-runs-table')
export class SvcRunsTable extends LitElement {
  @property({ attribute: false }) lines: readonly RunLine[] = [];
  /** Which runs they are and in which order. */
  @property() question = '';
  @property({ attribute: false }) columns: readonly Column[] = [];
  @property({ attribute: false }) sort: Sort | null = null;
  @property({ attribute: false }) selected: ReadonlySet<string> = new Set();
  @property({ attribute: false }) renderCell: (run: Run, column: Column) => unknown = () => nothing;
  @state() private first = 0;
  @state() private last = 40;
  @state() private activeKey: string | null = null;
  @state() private isNarrow = false;
  @query('.scroll') private readonly scroller!: HTMLElement;
  readonly #resizes = new ResizeObserver(() => this.#measure());
  #rowPx = ROW_PX;
  #told = '';
  #stopKeeping = (): void => {};

  static override styles = [baseStyles, iconStyles, runsTableStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#stopKeeping = historyMemory.keep('runs', () => this.#kept);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stopKeeping();
    this.#resizes.disconnect();
  }

  override firstUpdated(): void {
    this.#resizes.observe(this.scroller);
    this.#measure();
    this.scroller.scrollLeft = this.#left?.left ?? 0;
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('question')) this.scroller.scrollTop = this.#left?.top ?? 0;
    if (changed.has('lines') || changed.has('question')) this.#look();
    this.#tell();
  }

  override render() {
    const { lines } = this;
    const [from, to] = [Math.max(0, this.first - OVERSCAN), Math.min(lines.length, this.last + OVERSCAN)];
    const active = this.#activeIndex;
    // A row that comes into sight takes the elements of one that has left it.
    const slots = to - from;
    return html`<div
      class="scroll"
      role="grid"
      tabindex="0"
      aria-label="Runs"
      aria-multiselectable="true"
      aria-rowcount=${lines.length + 1}
      aria-colcount=${this.columns.length + 1}
      aria-activedescendant=${active >= from && active < to ? `row-${active}` : nothing}
      .style=${`--columns: ${this.#template}; --width: ${this.#widthRem}rem`}
      @scroll=${this.#onScroll}
      @keydown=${this.#onKey}
    >
      <div class="sheet" role="presentation">
        ${this.#renderHead()}
        <div role="rowgroup" .style=${`height: ${lines.length * this.#rowPx}px`}>
          <div role="presentation" .style=${`transform: translateY(${from * this.#rowPx}px)`}>
            ${repeat(
              lines.slice(from, to),
              (line, at) => `${line.kind} ${(from + at) % slots}`,
              (line, at) => this.#renderLine(line, from + at, from + at === active),
            )}
          </div>
        </div>
      </div>
    </div>`;
  }

  #renderHead() {
    return html`<div class="head" role="row" aria-rowindex="1">
      ${this.#renderTitle('name', 'Run', '', 'first')}
      ${this.columns.map((column) =>
        this.#renderTitle(
          columnId(column),
          columnTitle(column),
          columnHint(column),
          isNumberColumn(column) ? 'number' : '',
        ),
      )}
    </div>`;
  }

  #renderTitle(id: string, title: string, hint: string, look: string) {
    const { sort } = this;
    const isSorted = sort?.by === id;
    const order = isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none';
    return html`<span class="cell ${look}" role="columnheader" aria-sort=${order} title="${hint} ${title}">
      <button class="sort" ?data-sorted=${isSorted} @click=${() => this.#fire('svc-sort', id)}>
        ${hint === '' ? nothing : html`<span class="kind">${hint}</span>`}<span class="text">${title}</span>
        ${isSorted ? icon(sort.isDescending ? 'down' : 'up', 12) : nothing}
      </button>
    </span>`;
  }

  #renderLine(line: RunLine, index: number, isActive: boolean): TemplateResult {
    if (line.kind === 'group') return this.#renderGroup(line, index, isActive);
    return this.#renderRun(line.item, index, isActive);
  }

  #renderGroup({ key, label, count, isOpen }: RunLine & { kind: 'group' }, index: number, isActive: boolean) {
    return html`<div
      class="row group ${isActive ? 'active' : ''}"
      id="row-${index}"
      role="row"
      aria-rowindex=${index + 2}
      @click=${() => this.#fire('svc-group', key)}
    >
      <span
        class="cell first groupcell"
        role="gridcell"
        aria-expanded=${isOpen ? 'true' : 'false'}
        aria-colspan=${this.columns.length + 1}
      >
        <span class="toggle ${isOpen ? 'open' : ''}">${icon('right', 12)}</span>
        <span class="text" title=${label}>${label}</span>
        <span class="count">${formatCount(count)}</span>
      </span>
    </div>`;
  }

  #renderRun(run: Run, index: number, isActive: boolean) {
    const isSelected = this.selected.has(run.id);
    const chars = this.isNarrow ? NAME_CHARS.narrow : NAME_CHARS.wide;
    return html`<div
      class="row run ${isActive ? 'active' : ''} ${isSelected ? 'selected' : ''}"
      id="row-${index}"
      role="row"
      aria-rowindex=${index + 2}
      aria-selected=${isSelected ? 'true' : 'false'}
      @click=${(event: MouseEvent) => this.#onRowClick(event, run)}
    >
      <span class="cell first" role="gridcell">
        <label class="check"
          ><input
            type="checkbox"
            tabindex="-1"
            aria-label="Select ${run.name}"
            .checked=${live(isSelected)}
            @change=${() => this.#fire('svc-select', run.id)}
        /></label>
        <a class="name ${lengthOf(run.name, chars)}" tabindex="-1" href=${paths.run(run.id)} title=${run.name}
          >${cutInMiddle(run.name, chars)}</a
        >
      </span>
      ${this.columns.map(
        (column) =>
          html`<span class="cell ${isNumberColumn(column) ? 'number' : ''}" role="gridcell"
            >${this.renderCell(run, column)}</span
          >`,
      )}
    </div>`;
  }

  get #template(): string {
    const name = this.isNarrow ? `${NAME_REM.narrow}rem` : `minmax(${NAME_REM.wide}rem, 2fr)`;
    return [name, ...this.columns.map((column) => `minmax(${widthRemOf(column)}rem, 1fr)`)].join(' ');
  }

  get #widthRem(): number {
    const widths = this.columns.map(widthRemOf);
    return widths.reduce((sum, width) => sum + width, this.isNarrow ? NAME_REM.narrow : NAME_REM.wide);
  }

  get #activeIndex(): number {
    return this.activeKey === null ? -1 : this.lines.findIndex(({ key }) => key === this.activeKey);
  }

  get #kept(): KeptScroll | null {
    if (!this.hasUpdated) return null;
    const { scrollTop: top, scrollLeft: left } = this.scroller;
    return { question: this.question, top, left };
  }

  /** Where the reader has left these runs. */
  get #left(): KeptScroll | undefined {
    const kept = historyMemory.get<KeptScroll>('runs');
    return kept?.question === this.question ? kept : undefined;
  }

  readonly #onScroll = (): void => this.#look();

  /** Which rows are in sight. */
  #look(): void {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.#rowPx));
    const last = Math.ceil((scrollTop + clientHeight) / this.#rowPx);
    // A step of four rows: most frames of a slow scroll draw nothing.
    this.first = first - (first % 4);
    this.last = last + 4 - (last % 4);
  }

  #measure(): void {
    this.isNarrow = this.clientWidth < 640;
    const row = this.shadowRoot?.querySelector<HTMLElement>('.head');
    this.#rowPx = row?.offsetHeight || ROW_PX;
    this.#look();
    this.requestUpdate();
  }

  /** Tells the page what is in sight, when that has changed. */
  #tell(): void {
    const lines = this.lines.slice(this.first, this.last);
    const runs = lines.flatMap((line) => (line.kind === 'item' ? [line.item] : []));
    const told = runs.map(({ id, status, step }) => `${id} ${status} ${step}`).join();
    if (told !== this.#told) {
      this.#told = told;
      this.#fire('svc-in-sight', runs);
    }
    if (this.last > this.lines.length - NEAR_END) this.#fire('svc-near-end', this.lines.length);
  }

  #onRowClick(event: MouseEvent, run: Run): void {
    const isControl = event
      .composedPath()
      .some((target) => target instanceof HTMLElement && target.matches('a, button, label, input'));
    if (isControl || event.defaultPrevented || (getSelection()?.toString() ?? '') !== '') return;
    navigate(paths.run(run.id));
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.target !== this.scroller || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.#rowPx) - 2);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const move = moves[event.key];
    if (move !== undefined) this.#move(move);
    else if (!this.#act(event.key)) return;
    event.preventDefault();
  };

  #move(by: number): void {
    const from = this.#activeIndex;
    const to = from === -1 && by === 1 ? this.#firstWhole : from + by;
    const index = Math.min(this.lines.length - 1, Math.max(0, to));
    this.activeKey = this.lines[index]?.key ?? null;
    this.#bringIntoSight(index);
  }

  get #firstWhole(): number {
    return Math.ceil(this.scroller.scrollTop / this.#rowPx);
  }

  #bringIntoSight(index: number): void {
    const top = index * this.#rowPx;
    // The head lies over the first row of the box, and a scrollbar perhaps over the last.
    const below = this.scroller.clientHeight - 2 * this.#rowPx;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + below) this.scroller.scrollTop = top - below;
  }

  /** What a key does with the active line; false: nothing. */
  #act(key: string): boolean {
    const line = this.lines[this.#activeIndex];
    if (line === undefined) return false;
    if (line.kind === 'group') {
      const wanted = { ArrowRight: true, ArrowLeft: false }[key] ?? !line.isOpen;
      if (!['Enter', ' ', 'ArrowRight', 'ArrowLeft'].includes(key)) return false;
      if (wanted !== line.isOpen) this.#fire('svc-group', line.key);
      return true;
    }
    if (key === 'Enter') navigate(paths.run(line.item.id));
    else if (key === ' ') this.#fire('svc-select', line.item.id);
    else return false;
    return true;
  }

  #fire(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function widthRemOf(column: Column): number {
  const named = WIDTHS_REM[columnId(column)];
  if (named !== undefined) return named;
  if (column.kind === 'field') return isNumberColumn(column) ? 6.5 : 8.5;
  return column.kind === 'best' ? 10 : 8.5;
}

/** Of a name in a column whose two lines hold so many letters. */
function lengthOf(name: string, chars: number): string {
  if (name.length <= chars * 0.4) return '';
  return name.length <= chars * 0.8 ? 'long' : 'long full';
}
