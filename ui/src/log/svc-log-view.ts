import { consume } from '@lit/context';
import { LOG_STREAMS } from '@svc/contract/protocol';
import { isTrouble } from '@svc/signals';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { icon } from '../components/icons.js';
import '../components/svc-copy.js';
import '../components/svc-skeleton.js';
import { toast } from '../components/svc-toasts.js';
import { toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { downloadLog, type LogStream } from '../data/jobs.js';
import { formatCount, plural } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { LogFeed } from './log-feed.js';
import { layOutPartials, LogLayout, shownPartials } from './log-layout.js';
import { renderRow, renderUnread, type RowLook } from './log-row.js';
import { countCells, showAll, type LogRow } from './log-rows.js';
import { LogScan, type ScanLine } from './log-scan.js';
import { isMatch } from './log-search.js';
import { baseAround, firstAtOrAfter, LogSpace, MAX_LINES_SHOWN } from './log-space.js';
import { logStyles } from './log-styles.js';
import { readSwitch, storeSwitch } from './log-switches.js';
import { saveFile } from '../save-file.js';

type StreamFilter = 'all' | LogStream;

const OVERSCAN = 30;
/** The gutter's characters beside the line number, without and with the time; its padding and the row's, in pixels. */
const GUTTER_CELLS = { off: 2, on: 11 };
const ROW_PADDING_PX = 44;
/** A long log is searched once the reader has stopped typing. */
const TYPING_MS = 250;

/** One attempt's log: live, virtual, searchable from its first line to its last. Only the rows in sight are in the page, however long the log. */
@customElement('svc-log-view')
export class SvcLogView extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() jobId = '';
  @property({ type: Number }) attempt = 1;
  /** How many attempts there are to choose from. */
  @property({ type: Number }) attempts = 1;
  @property({ type: Boolean }) live = false;
  @property({ type: Boolean }) waiting = false;
  /** Why the attempt ended without having started; null when it started. */
  @property() notStarted: string | null = null;
  /** The seq of a line that is to be shown; null: the newest. */
  @property({ type: Number }) line: number | null = null;
  @state() private filter: StreamFilter = 'all';
  @state() private isWrapped = readSwitch('wrap', false);
  @state() private hasTimes = readSwitch('times', window.innerWidth > 900);
  @state() private isFollowing = true;
  @state() private needle = '';
  /** Which match the reader stands on. */
  @state() private hit = 0;
  /** The seq of the line that the reader has gone to; -1: to none. */
  @state() private current = -1;
  @state() private columns = 80;
  @state() private unseen = 0;
  @query('.scroll') private readonly scroller!: HTMLElement;
  @query('.probe') private readonly probe!: HTMLElement;
  @query('input.needle') private readonly searchField!: HTMLInputElement;

  readonly #feed = new LogFeed(
    this,
    () => this.api,
    (added) => this.#onAppend(added),
  );
  /** The lines of the stream that is shown; null: all are. */
  #streamScan: LogScan | null = null;
  #search: LogScan | null = null;
  #errors: LogScan | null = null;
  /** What is to be done once all error lines are known: to the next one, or to the one before. */
  #errorStep: 1 | -1 | 0 = 0;
  /** The log has not been searched yet for what is asked. */
  #isScanDue = false;
  #typing: ReturnType<typeof setTimeout> | undefined;
  #space = new LogSpace(null, 0, 0);
  #layout = new LogLayout(null);
  #layoutOf = '';
  #base = 0;
  /** The line that is brought into view as soon as it is here; null: none. */
  #target: number | null = null;
  #top = 0;
  #cellPx = 7;
  #lineHeight = 20;
  /** A line in sight that is not here. */
  #wanted: number | null = null;
  readonly #resizes = new ResizeObserver(() => this.#measure());

  static override styles = [baseStyles, controlStyles, iconStyles, logStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('keydown', this.#onKeyOfPage);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('keydown', this.#onKeyOfPage);
    this.#resizes.disconnect();
    this.#stopScans();
  }

  override firstUpdated(): void {
    this.#resizes.observe(this.scroller);
    this.#measure();
  }

  /** Shows the line again, wherever the reader is. */
  showLine(): void {
    if (this.line !== null) this.#goTo(this.line);
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has('jobId') || changed.has('attempt') || changed.has('live')) {
      this.#feed.show({ jobId: this.jobId, attempt: this.attempt, isLive: this.live });
    }
    if (changed.has('attempt')) this.#follow();
    if (changed.has('line') || changed.has('attempt')) this.#onLine();
    this.#scanOnceLoaded();
    this.#updateSpace();
    this.#aim();
    this.#measureRows();
  }

  override updated(): void {
    const { scroller } = this;
    scroller.scrollTop = this.isFollowing ? scroller.scrollHeight : this.#top;
    this.#top = scroller.scrollTop;
    if (this.#wanted !== null) this.#feed.want(this.#wanted, this.#stream);
  }

  get #stream(): LogStream | null {
    return this.filter === 'all' ? null : this.filter;
  }

  // What is shown, and where.

  #updateSpace(): void {
    const { total } = this.#feed.rows;
    const seqs = this.#streamScan?.found ?? null;
    const length = seqs?.length ?? total;
    if (this.isFollowing) this.#base = Math.max(0, length - MAX_LINES_SHOWN);
    this.#space = new LogSpace(seqs, total, this.#base);
    const columns = this.isWrapped ? this.columns : null;
    const key = `${this.jobId} ${this.attempt} ${this.filter} ${columns} ${this.#base}`;
    if (key !== this.#layoutOf) this.#layout = new LogLayout(columns);
    this.#layoutOf = key;
    this.#layout.count = this.#space.count;
  }

  /** Scrolls to the line that the reader wants to see; it stays the aim until it is here. */
  #aim(): void {
    const seq = this.#target;
    if (seq === null || !this.#feed.isLoaded || !this.hasUpdated) return;
    const { length } = this.#space;
    const index = this.#space.positionOf(seq) + this.#base;
    if (index < this.#base || index >= this.#base + MAX_LINES_SHOWN) {
      this.#base = baseAround(index, length);
      this.#updateSpace();
    }
    const position = index - this.#base;
    const row = this.#feed.rows.get(seq);
    this.#measureAround(position);
    this.#scrollTo(position, row);
    if (row || seq >= this.#feed.rows.total) this.#target = null;
  }

  /** Puts the row in the middle, and what was searched for into view when the row is long. */
  #scrollTo(position: number, row: LogRow | undefined): void {
    const before = this.#cellsBefore(row);
    const within = this.isWrapped ? Math.floor(before / this.columns) : 0;
    const line = this.#layout.startOf(position) + within;
    this.#top = Math.max(0, (line + 0.5) * this.#lineHeight - this.scroller.clientHeight / 2);
    if (this.isWrapped || !row) return;
    const right = (before + this.needle.length + this.#gutterCells) * this.#cellPx + ROW_PADDING_PX;
    const { clientWidth } = this.scroller;
    void this.updateComplete.then(() => {
      this.scroller.scrollLeft = right < clientWidth ? 0 : right - clientWidth / 2;
    });
  }

  #cellsBefore(row: LogRow | undefined): number {
    const at = row && this.needle !== '' ? row.text.toLowerCase().indexOf(this.needle) : -1;
    return at > 0 ? countCells(row!.text.slice(0, at)) : 0;
  }

  readonly #rowAt = (position: number): LogRow | undefined =>
    this.#feed.rows.get(this.#space.seqAt(position));

  #measureAround(position: number): void {
    const margin = this.#linesInView + OVERSCAN;
    const first = Math.max(0, position - margin);
    this.#layout.measure(first, Math.min(this.#space.count, position + margin), this.#rowAt);
  }

  get #linesInView(): number {
    return Math.ceil((this.scroller?.clientHeight ?? 600) / this.#lineHeight);
  }

  /** What the reader looks at stays in its place when rows above it turn out to be higher than thought. */
  #measureRows(): void {
    const layout = this.#layout;
    if (this.isFollowing) return this.#measureAround(this.#space.count);
    const at = layout.positionAt(Math.floor(this.#top / this.#lineHeight));
    const offset = this.#top - layout.startOf(at) * this.#lineHeight;
    this.#measureAround(at);
    this.#top = layout.startOf(at) * this.#lineHeight + offset;
  }

  // What is done to it.

  #onAppend(added: readonly LogRow[]): void {
    if (added.length === 0) return this.#forget();
    for (const scan of [this.#streamScan, this.#search, this.#errors]) scan?.add(added);
    if (this.isFollowing || !this.#feed.isLoaded) return;
    this.unseen += added.filter(this.#isShown).length;
  }

  /** This is another log. */
  #forget(): void {
    this.#stopScans();
    this.#errors = this.#search = this.#streamScan = null;
    this.#layoutOf = '';
    this.current = -1;
    this.hit = this.#base = this.unseen = 0;
    this.#isScanDue = true;
  }

  #scanOnceLoaded(): void {
    if (!this.#isScanDue || !this.#feed.isLoaded) return;
    this.#isScanDue = false;
    this.#filterStream();
    this.#find();
  }

  readonly #isShown = ({ isError }: ScanLine): boolean =>
    this.filter === 'all' || isError === (this.filter === 'stderr');

  #stopScans(): void {
    clearTimeout(this.#typing);
    for (const scan of [this.#streamScan, this.#search, this.#errors]) scan?.stop();
  }

  #scan(test: (line: ScanLine) => boolean, onChange: (scan: LogScan) => void): LogScan {
    const scan: LogScan = new LogScan(test, () => {
      onChange(scan);
      this.requestUpdate();
    });
    const { rows } = this.#feed;
    if (rows.hasAll && this.#feed.isLoaded) scan.readAll([...rows.all()].filter((row) => !row.isMissing));
    else void scan.read((signal) => this.#feed.scan(this.#stream, signal));
    return scan;
  }

  #filterStream(): void {
    this.#streamScan?.stop();
    this.#streamScan = this.filter === 'all' ? null : this.#scan(this.#isShown, () => undefined);
    this.requestUpdate();
  }

  #find(): void {
    this.#search?.stop();
    this.#search = null;
    this.hit = 0;
    const { needle } = this;
    if (needle === '') return;
    const isWanted = (line: ScanLine): boolean => this.#isShown(line) && isMatch(line, needle);
    let isFirst = true;
    this.#search = this.#scan(isWanted, ({ found }) => {
      if (!isFirst || found.length === 0) return;
      isFirst = false;
      this.#goTo(found[0]!);
    });
    this.requestUpdate();
  }

  #step(by: number): void {
    const found = this.#search?.found ?? [];
    if (found.length === 0) return;
    this.hit = (this.hit + by + found.length) % found.length;
    this.#goTo(found[this.hit]!);
  }

  #stepError(by: 1 | -1): void {
    this.#errorStep = by;
    this.#errors ??= this.#scan(
      (line) => this.#isShown(line) && isTrouble(line.text),
      (scan) => scan.isDone && this.#goToError(scan.found),
    );
    if (this.#errors.isDone) this.#goToError(this.#errors.found);
  }

  #goToError(found: readonly number[]): void {
    const by = this.#errorStep;
    this.#errorStep = 0;
    if (by === 0) return;
    if (found.length === 0) return toast('No line of this log tells of an error.');
    const from = this.current >= 0 ? this.current : by > 0 ? -1 : Infinity;
    const next = by > 0 ? firstAtOrAfter(found, from + 1) : firstAtOrAfter(found, from) - 1;
    this.#goTo(found[(next + found.length) % found.length]!);
  }

  #onLine(): void {
    if (this.line === null) return;
    if (this.line !== this.current) this.#goTo(this.line);
  }

  #goTo(seq: number): void {
    this.isFollowing = false;
    this.current = this.#target = seq;
    const row = this.#feed.rows.get(seq);
    if (row?.isCut && this.#cellsBefore(row) > 0) this.#showAll(row);
    this.scrollIntoView({ block: 'nearest' });
    this.requestUpdate();
  }

  #showAll(row: LogRow): void {
    showAll(row);
    this.#layout.forget(this.#space.positionOf(row.seq));
    this.requestUpdate();
  }

  #goToStart(): void {
    this.isFollowing = false;
    this.#base = this.#top = 0;
    this.#target = null;
    this.requestUpdate();
  }

  #follow(): void {
    this.isFollowing = true;
    this.#target = null;
    this.unseen = 0;
  }

  get #gutterCells(): number {
    return this.#digits + (this.hasTimes ? GUTTER_CELLS.on : GUTTER_CELLS.off);
  }

  get #digits(): number {
    return String(Math.max(1, this.#feed.rows.total)).length;
  }

  #measure(): void {
    const cell = this.probe.getBoundingClientRect().width / 100;
    if (cell === 0) return;
    const room = this.scroller.clientWidth - ROW_PADDING_PX - this.#gutterCells * cell;
    this.#cellPx = cell;
    this.columns = Math.max(20, Math.floor(room / cell));
    this.#lineHeight = parseFloat(getComputedStyle(this.scroller).lineHeight);
    this.requestUpdate();
  }

  readonly #onScroll = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 4;
    if (isAtEnd && this.isFollowing) return;
    if (scrollTop < this.#top - 1) this.isFollowing = false;
    else if (isAtEnd && this.#target === null && this.#isEndInReach) this.#follow();
    this.#top = scrollTop;
    this.requestUpdate();
  };

  get #isEndInReach(): boolean {
    return this.#base + this.#space.count >= this.#space.length;
  }

  /** The reader goes elsewhere than to what was to be shown. */
  readonly #onOwnWay = (): void => {
    this.#target = null;
  };

  readonly #jumpToNewest = (): void => {
    this.#follow();
    this.scroller.focus({ preventScroll: true });
  };

  readonly #onSearch = (event: Event): void => {
    this.needle = (event.target as HTMLInputElement).value.toLowerCase();
    clearTimeout(this.#typing);
    if (this.#feed.rows.hasAll) this.#find();
    else this.#typing = setTimeout(() => this.#find(), TYPING_MS);
  };

  readonly #onSearchKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.needle !== '') this.#clearSearch();
    else if (event.key === 'Enter') this.#step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  #clearSearch(): void {
    this.needle = this.searchField.value = '';
    this.#find();
    this.scroller.focus({ preventScroll: true });
  }

  /** `/` from anywhere in the page, when nobody else takes it. */
  readonly #onKeyOfPage = (event: KeyboardEvent): void => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
    if (event.key !== '/' || !isPlain || isTyping(event)) return;
    event.preventDefault();
    this.searchField.focus();
    this.searchField.select();
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const act = this.#actOf(event.key);
    if (!act) return;
    act();
    event.preventDefault();
  };

  #actOf(key: string): (() => void) | null {
    switch (key) {
      case 'n':
        return () => this.#step(1);
      case 'N':
        return () => this.#step(-1);
      case 'e':
        return () => this.#stepError(1);
      case 'E':
        return () => this.#stepError(-1);
      case 'Home':
        return () => this.#goToStart();
      case 'End':
        return () => this.#follow();
      case 'Escape':
        return this.needle === ''
          ? this.current < 0
            ? null
            : () => this.#leaveLine()
          : () => this.#clearSearch();
      default:
        return null;
    }
  }

  #leaveLine(): void {
    this.current = -1;
  }

  readonly #onLineNumber = (event: Event): void => {
    const field = event.target as HTMLInputElement;
    const line = Number(field.value);
    if (!Number.isInteger(line) || line < 1) return;
    this.#goTo(Math.min(line, this.#feed.rows.total) - 1);
    field.value = '';
  };

  #chooseStream(filter: StreamFilter): void {
    const top = this.#space.count > 0 ? this.#space.seqAt(this.#firstInView) : 0;
    this.filter = filter;
    this.#errors?.stop();
    this.#errors = null;
    this.#filterStream();
    this.#find();
    if (!this.isFollowing && this.needle === '') this.#target = top;
  }

  get #firstInView(): number {
    const at = this.#layout.positionAt(Math.floor(this.#top / this.#lineHeight));
    return Math.max(0, Math.min(at, this.#space.count - 1));
  }

  #toggleWrap(): void {
    const top = this.#space.count > 0 ? this.#space.seqAt(this.#firstInView) : null;
    this.isWrapped = storeSwitch('wrap', !this.isWrapped);
    if (!this.isFollowing) this.#target = this.current >= 0 ? this.current : top;
  }

  #toggleTimes(): void {
    this.hasTimes = storeSwitch('times', !this.hasTimes);
    this.#measure();
  }

  readonly #onAttempt = (event: Event): void => {
    const attempt = Number((event.target as HTMLSelectElement).value);
    this.dispatchEvent(new CustomEvent('svc-attempt', { detail: attempt }));
  };

  readonly #download = async (): Promise<void> => {
    try {
      const blob = await downloadLog(this.api, this.jobId, this.attempt);
      saveFile(blob, `${this.jobId}-attempt-${this.attempt}.log`);
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
  };

  // How it looks.

  override render() {
    return html`<div class="whole" @keydown=${this.#onKey}>
      ${this.#renderTools()}${this.#renderNotes()}
      <div class="frame">
        <div
          class="scroll ${this.isWrapped ? 'wrapped' : ''}"
          tabindex="0"
          role="log"
          aria-label="Log of attempt ${this.attempt}"
          aria-live="off"
          @scroll=${this.#onScroll}
          @wheel=${{ handleEvent: this.#onOwnWay, passive: true }}
          @touchmove=${{ handleEvent: this.#onOwnWay, passive: true }}
          @pointerdown=${this.#onOwnWay}
        >
          ${this.#renderWindow()}
        </div>
        <span class="probe" aria-hidden="true">${'0'.repeat(100)}</span>
        ${this.#renderState()}
        <div class="overlay">${this.#renderCurrent()} ${this.#renderNewest()}</div>
      </div>
    </div>`;
  }

  #renderTools() {
    return html`<div class="tools">
      <div class="segmented" role="group" aria-label="Stream">
        ${(['all', ...LOG_STREAMS] as const).map(
          (filter) =>
            html`<button
              aria-pressed=${filter === this.filter ? 'true' : 'false'}
              @click=${() => this.#chooseStream(filter)}
            >
              ${filter === 'all' ? 'All' : filter}
            </button>`,
        )}
      </div>
      ${this.#renderSearch()} ${this.#renderPlaces()}
      <span class="spacer"></span>
      ${this.attempts > 1 ? this.#renderAttempts() : nothing}
      <div class="switches">
        ${this.#renderSwitch('Wrap long lines', 'wrap', this.isWrapped, () => this.#toggleWrap())}
        ${this.#renderSwitch('Show times', 'clock', this.hasTimes, () => this.#toggleTimes())}
        ${this.#renderButton('Download the whole log', 'download', this.#download)}
      </div>
    </div>`;
  }

  #renderButton(label: string, name: Parameters<typeof icon>[0], onClick: () => void) {
    return html`<button class="button icon" aria-label=${label} title=${label} @click=${onClick}>
      ${icon(name)}
    </button>`;
  }

  #renderSearch() {
    return html`<div class="search ${this.needle === '' ? '' : 'asked'}" role="search">
      ${icon('search', 14)}
      <input
        class="input needle"
        type="text"
        aria-label="Search the log"
        placeholder="Search the whole log"
        spellcheck="false"
        aria-keyshortcuts="/"
        @input=${this.#onSearch}
        @keydown=${this.#onSearchKey}
      />
      ${
        this.needle === ''
          ? nothing
          : html`<span class="found">
              <span role="status">${this.#describeFound()}</span>
              ${
                this.#search?.isDone === false
                  ? html`<button
                      class="button plain icon"
                      aria-label="Stop searching"
                      title="Stop searching"
                      @click=${() => this.#search?.stop()}
                    >
                      ${icon('stop', 14)}
                    </button>`
                  : nothing
              }
              <button
                class="button plain icon"
                aria-label="Previous match"
                title="Previous match (N)"
                @click=${() => this.#step(-1)}
              >
                ${icon('up', 14)}
              </button>
              <button
                class="button plain icon"
                aria-label="Next match"
                title="Next match (n)"
                @click=${() => this.#step(1)}
              >
                ${icon('down', 14)}
              </button>
            </span>`
      }
    </div>`;
  }

  #describeFound(): string {
    const search = this.#search;
    if (!search) return '…';
    const { found, isDone, isFull, readTo, error } = search;
    const progress = isDone ? '' : ` · ${this.#percentOf(readTo)}`;
    if (error) return `search failed: ${toApiError(error).message}`;
    if (found.length > 0)
      return `${formatCount(this.hit + 1)} of ${formatCount(found.length)}${isFull ? '+' : ''}${progress}`;
    if (!isDone) return `searching${progress}`;
    return readTo < this.#feed.rows.total && !this.#stream ? 'stopped' : 'no match';
  }

  #percentOf(readTo: number): string {
    return `${Math.floor((100 * readTo) / Math.max(1, this.#feed.rows.total))} %`;
  }

  #renderPlaces() {
    return html`<div class="places" role="group" aria-label="Go to">
      <button
        class="button"
        aria-label="Previous error"
        title="Previous line that tells of an error (E)"
        @click=${() => this.#stepError(-1)}
      >
        ${icon('up', 14)}<span class="word">Error</span>
      </button>
      <button
        class="button"
        aria-label="Next error"
        title="Next line that tells of an error (e)"
        @click=${() => this.#stepError(1)}
      >
        ${icon('down', 14)}<span class="word">Error</span>
      </button>
      ${this.#renderButton('Go to the start of the log', 'toStart', () => this.#goToStart())}
      <input
        class="input number"
        type="text"
        inputmode="numeric"
        aria-label="Go to line"
        placeholder="Line"
        @change=${this.#onLineNumber}
      />
    </div>`;
  }

  #renderAttempts() {
    return html`<select
      class="select"
      aria-label="Attempt"
      .value=${String(this.attempt)}
      @change=${this.#onAttempt}
    >
      ${Array.from({ length: this.attempts }, (_, at) => this.attempts - at).map(
        (attempt) =>
          html`<option value=${attempt} ?selected=${attempt === this.attempt}>Attempt ${attempt}</option>`,
      )}
    </select>`;
  }

  #renderSwitch(label: string, name: 'wrap' | 'clock', isOn: boolean, onClick: () => void) {
    return html`<button
      class="button icon"
      aria-label=${label}
      title=${label}
      aria-pressed=${isOn ? 'true' : 'false'}
      @click=${onClick}
    >
      ${icon(name)}
    </button>`;
  }

  /** What is not in view because it is not here is always said. */
  #renderNotes() {
    const { dropped, readError, isLoaded, rows } = this.#feed;
    const notes = [
      isLoaded && this.line !== null && this.line >= rows.total
        ? html`<span class="bad">The log has no line ${formatCount(this.line + 1)}.</span>`
        : nothing,
      dropped > 0
        ? html`<span class="bad"
            >${plural(dropped, 'line')} dropped by the agent: its log spool was full</span
          >`
        : nothing,
      readError
        ? html`<span class="bad">Lines could not be read. ${readError.message}</span>
            <button @click=${() => this.#feed.retryReading()}>Try again</button>`
        : nothing,
      this.#errorStep !== 0
        ? html`<span role="status">Looking for errors: ${this.#percentOf(this.#errors?.readTo ?? 0)}</span>`
        : nothing,
      this.#renderStreamNote(),
      this.#renderReach(),
    ].filter((note) => note !== nothing);
    return notes.length === 0 ? nothing : html`<p class="notes">${notes}</p>`;
  }

  #renderStreamNote() {
    const scan = this.#streamScan;
    if (scan?.error)
      return html`<span class="bad"
        >${this.filter} could not be read. ${toApiError(scan.error).message}</span
      >`;
    if (!scan || scan.isDone) return nothing;
    return html`<span>Reading ${this.filter}: ${this.#percentOf(scan.readTo)}</span>`;
  }

  /** Of a log that is too long for a scroll bar. */
  #renderReach() {
    const { length, count } = this.#space;
    if (length <= count) return nothing;
    const first = formatCount(this.#base + 1);
    return html`<span
      >Scrolling reaches lines ${first} to ${formatCount(this.#base + count)} of ${formatCount(length)}; a
      line number, a match or an error leads to the others.</span
    >`;
  }

  #renderWindow() {
    const layout = this.#layout;
    const partialRows = shownPartials(this.#feed.partials, this.filter);
    const partial = layOutPartials(partialRows, layout.columns);
    const lineHeight = this.#lineHeight;
    const bottomTop = Math.max(0, layout.lineTotal - this.#linesInView);
    const top = Math.floor(this.#top / lineHeight);
    const from = this.isFollowing ? bottomTop : Math.min(top, bottomTop);
    const view = layout.window(from - OVERSCAN, from + this.#linesInView + OVERSCAN);
    const look = this.#look;
    const cells = Math.max(layout.maxCells, partial.maxCells) + this.#gutterCells;
    const width = this.isWrapped ? '100%' : `calc(${cells}ch + ${ROW_PADDING_PX}px)`;
    return html`<div
      class="sizer"
      .style=${`height: ${(layout.lineTotal + partial.lineTotal) * lineHeight}px; width: max(100%, ${width})`}
    >
      <div class="window" .style=${`transform: translateY(${view.above * lineHeight}px)`}>
        ${this.#renderRows(view.first, view.end, look)}
      </div>
      <div class="partials" .style=${`transform: translateY(${layout.lineTotal * lineHeight}px)`}>
        ${partialRows.map((row, at) => renderRow(row, partial.linesOf(at) * lineHeight, { ...look, needle: '' }))}
      </div>
    </div>`;
  }

  get #look(): RowLook {
    return {
      needle: this.needle,
      hasTimes: this.hasTimes,
      digits: this.#digits,
      textWidth: this.isWrapped ? `${this.columns}ch` : 'auto',
      current: this.current,
      linkTo: (seq) => this.#linkTo(seq),
      onAll: (row) => this.#showAll(row),
    };
  }

  #linkTo(seq: number): string {
    return paths.job(this.jobId, { attempt: String(this.attempt), line: String(seq + 1) });
  }

  #renderRows(first: number, end: number, look: RowLook) {
    const { rows } = this.#feed;
    const positions = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
    const unread = positions.find((position) => this.#rowAt(position) === undefined);
    this.#wanted = unread === undefined ? null : this.#space.seqAt(unread);
    if (end > first) rows.touch(this.#space.seqAt(first), this.#space.seqAt(end - 1) + 1);
    return repeat(
      positions,
      (position) => this.#space.seqAt(position),
      (position) => {
        const height = this.#layout.linesOf(position) * this.#lineHeight;
        const row = this.#rowAt(position);
        return row ? renderRow(row, height, look) : renderUnread(this.#space.seqAt(position), height, look);
      },
    );
  }

  #renderState() {
    const { error, isLoaded, rows, partials } = this.#feed;
    if (error) {
      return html`<div class="empty">
        <p>The log could not be loaded. ${error.message}</p>
        <p><button class="button" @click=${() => this.#feed.reload()}>Try again</button></p>
      </div>`;
    }
    if (!isLoaded) return html`<svc-skeleton class="empty" rows="3"></svc-skeleton>`;
    if (shownPartials(partials, this.filter).length > 0) return nothing;
    if (rows.total === 0) return html`<p class="empty">${this.#describeEmpty()}</p>`;
    const isEmpty = this.#space.count === 0 && this.#streamScan?.isDone && !this.#streamScan.error;
    return isEmpty ? html`<p class="empty">No lines on ${this.filter}.</p>` : nothing;
  }

  #describeEmpty(): string {
    if (this.waiting) return 'The job has not started yet. Its log appears here once it runs.';
    if (this.live) return 'No output yet. Lines appear here as they are printed.';
    return this.notStarted ?? 'The job printed nothing.';
  }

  /** What can be done with the line that the reader has gone to. */
  #renderCurrent() {
    const row = this.current < 0 ? undefined : this.#feed.rows.get(this.current);
    if (!row) return nothing;
    const number = formatCount(row.seq + 1);
    return html`<div class="line" role="group" aria-label="Line ${number}">
      Line ${number}<svc-copy label="Copy the line" .text=${row.text}></svc-copy>Link<svc-copy
        label="Copy a link to the line"
        .text=${new URL(this.#linkTo(row.seq), window.location.origin).href}
      ></svc-copy>
    </div>`;
  }

  #renderNewest() {
    if (this.isFollowing || this.#space.count === 0) return nothing;
    const label = this.unseen > 0 ? plural(this.unseen, 'new line') : 'Jump to the newest line';
    return html`<button class="button newest" @click=${this.#jumpToNewest}>
      ${icon('toEnd', 14)}${label}
    </button>`;
  }
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
