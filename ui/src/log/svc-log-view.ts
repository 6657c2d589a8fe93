import { consume } from '@lit/context';
import { LOG_STREAMS } from '@svc/contract/protocol';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { icon } from '../components/icons.js';
import '../components/svc-skeleton.js';
import { toast } from '../components/svc-toasts.js';
import { toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { downloadLog } from '../data/jobs.js';
import { formatCount, plural } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { LogFeed } from './log-feed.js';
import { layOutPartials, LogLayout } from './log-layout.js';
import { LogMatches } from './log-matches.js';
import { renderRow, type RowLook } from './log-row.js';
import { logStyles } from './log-styles.js';
import { describeEmpty, renderNotes, renderSwitch } from './log-parts.js';
import { readSwitch, storeSwitch } from './log-switches.js';
import { saveFile } from '../save-file.js';

type StreamFilter = 'all' | (typeof LOG_STREAMS)[number];

const OVERSCAN = 30;
/** The gutter's characters without and with the time; its padding and the row's, in pixels. */
const GUTTER_CELLS = { off: 1, on: 10 };
const ROW_PADDING_PX = 44;

/** One attempt's log: live, virtual, searchable. Only the rows in sight are in the page, however long the log. */
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
  @state() private current = 0;
  @state() private columns = 80;
  @state() private unseen = 0;
  @query('.scroll') private readonly scroller!: HTMLElement;
  @query('.probe') private readonly probe!: HTMLElement;

  readonly #feed = new LogFeed(
    this,
    () => this.api,
    (added, removed) => this.#onAppend(added, removed),
  );
  #layout = new LogLayout([], null);
  #layoutOf = '';
  readonly #hits = new LogMatches();
  #lineHeight = 20;
  #lastTop = 0;
  #revision = 0;
  /** The line is not in view yet. */
  #isLineDue = false;
  readonly #resizes = new ResizeObserver(() => this.#measure());

  static override styles = [baseStyles, controlStyles, iconStyles, logStyles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resizes.disconnect();
  }

  override firstUpdated(): void {
    this.#resizes.observe(this.scroller);
    this.#measure();
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has('jobId') || changed.has('attempt') || changed.has('live')) {
      this.#feed.show({ jobId: this.jobId, attempt: this.attempt, isLive: this.live });
    }
    if (changed.has('attempt')) this.isFollowing = true;
    if (changed.has('line') || changed.has('attempt')) this.#isLineDue = this.line !== null;
    this.#updateLayout();
  }

  /** Shows the line again, wherever the reader is. */
  showLine(): void {
    this.#isLineDue = this.line !== null;
    this.requestUpdate();
  }

  override updated(): void {
    if (this.#isLineDue && this.#feed.isLoaded) {
      this.#isLineDue = false;
      const at = this.#lineAt;
      if (at >= 0) return this.#scrollToRow(at);
    }
    if (this.isFollowing) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#lastTop = this.scroller.scrollTop;
  }

  override render() {
    return html`${this.#renderTools()}${this.#renderNotes()}
      <div class="frame">
        <div
          class="scroll ${this.isWrapped ? 'wrapped' : ''}"
          tabindex="0"
          role="log"
          aria-label="Log of attempt ${this.attempt}"
          aria-live="off"
          @scroll=${this.#onScroll}
        >
          ${this.#renderWindow()}
        </div>
        <span class="probe" aria-hidden="true">${'0'.repeat(100)}</span>
        ${this.#renderState()} ${this.#renderNewest()}
      </div>`;
  }

  #renderTools() {
    return html`<div class="tools">
      <div class="segmented" role="group" aria-label="Stream">
        ${(['all', ...LOG_STREAMS] as const).map(
          (filter) =>
            html`<button
              aria-pressed=${filter === this.filter ? 'true' : 'false'}
              @click=${() => (this.filter = filter)}
            >
              ${filter === 'all' ? 'All' : filter}
            </button>`,
        )}
      </div>
      ${this.#renderSearch()}
      <span class="spacer"></span>
      ${this.attempts > 1 ? this.#renderAttempts() : nothing}
      ${renderSwitch('Wrap long lines', 'wrap', this.isWrapped, () => this.#toggleWrap())}
      ${renderSwitch('Show times', 'clock', this.hasTimes, () => this.#toggleTimes())}
      <button
        class="button icon"
        aria-label="Download the whole log"
        title="Download the whole log"
        @click=${this.#download}
      >
        ${icon('download')}
      </button>
    </div>`;
  }

  #renderSearch() {
    const { found } = this.#hits;
    return html`<div class="search" role="search">
      ${icon('search', 14)}
      <input
        class="input"
        type="text"
        aria-label="Search the log"
        placeholder="Search"
        spellcheck="false"
        @input=${this.#onSearch}
        @keydown=${this.#onSearchKey}
      />
      ${
        this.needle === ''
          ? nothing
          : html`<span class="found">
              <span role="status"
                >${found.length === 0 ? this.#describeNone() : `${this.current + 1} of ${formatCount(found.length)}`}</span
              >
              <button class="button plain icon" aria-label="Previous match" @click=${() => this.#step(-1)}>
                ${icon('up', 14)}
              </button>
              <button class="button plain icon" aria-label="Next match" @click=${() => this.#step(1)}>
                ${icon('down', 14)}
              </button>
            </span>`
      }
    </div>`;
  }

  #describeNone(): string {
    return (this.#feed.buffer.rows[0]?.seq ?? 0) > 0 ? 'no match in these lines' : 'no match';
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

  #renderNotes() {
    const { buffer, dropped, isLoaded } = this.#feed;
    const isMissing = this.line !== null && isLoaded && this.#lineAt < 0;
    return renderNotes({
      earlier: buffer.rows[0]?.seq ?? 0,
      dropped,
      missing: isMissing ? this.line! + 1 : null,
      onDownload: () => void this.#download(),
    });
  }

  #renderWindow() {
    const layout = this.#layout;
    const partial = this.#layOutPartials();
    const lineHeight = this.#lineHeight;
    const top = this.isFollowing ? Number.MAX_SAFE_INTEGER : (this.scroller?.scrollTop ?? 0);
    const height = this.scroller?.clientHeight ?? 600;
    const bottomTop = Math.max(0, layout.lineTotal * lineHeight - height);
    const from = Math.floor(Math.min(top, bottomTop) / lineHeight);
    const view = layout.window(from - OVERSCAN, from + Math.ceil(height / lineHeight) + OVERSCAN);
    const look: RowLook = {
      needle: this.needle,
      hasTimes: this.hasTimes,
      textWidth: this.isWrapped ? `${this.columns}ch` : 'auto',
      current: this.#hits.found[this.current] ?? layout.rows[this.#lineAt]?.index ?? -1,
    };
    const width = this.isWrapped
      ? '100%'
      : `calc(${Math.max(layout.maxCells, partial.maxCells) + this.#gutterCells}ch + ${ROW_PADDING_PX}px)`;
    return html`<div
      class="sizer"
      .style=${`height: ${(layout.lineTotal + partial.lineTotal) * lineHeight}px; width: max(100%, ${width})`}
    >
      <div class="window" .style=${`transform: translateY(${view.above * lineHeight}px)`}>
        ${repeat(
          layout.rows.slice(view.first, view.end),
          (row) => row.index,
          (row, at) => renderRow(row, layout.linesOf(view.first + at) * lineHeight, look),
        )}
      </div>
      <div class="partials" .style=${`transform: translateY(${layout.lineTotal * lineHeight}px)`}>
        ${partial.rows.map((row, at) => renderRow(row, partial.linesOf(at) * lineHeight, { ...look, needle: '' }))}
      </div>
    </div>`;
  }

  #layOutPartials(): LogLayout {
    return layOutPartials(this.#feed.partials, this.filter, this.isWrapped ? this.columns : null);
  }

  #renderState() {
    const { error, isLoaded, buffer } = this.#feed;
    if (error) {
      return html`<div class="empty">
        <p>The log could not be loaded. ${error.message}</p>
        <p><button class="button" @click=${() => this.#feed.reload()}>Try again</button></p>
      </div>`;
    }
    if (!isLoaded) return html`<svc-skeleton class="empty" rows="3"></svc-skeleton>`;
    if (this.#layOutPartials().rows.length > 0) return nothing;
    if (buffer.rows.length === 0) {
      return html`<p class="empty">${describeEmpty(this)}</p>`;
    }
    if (this.#layout.rows.length === 0) return html`<p class="empty">No lines on ${this.filter}.</p>`;
    return nothing;
  }

  #renderNewest() {
    if (this.isFollowing || this.#layout.rows.length === 0) return nothing;
    const label = this.unseen > 0 ? plural(this.unseen, 'new line') : 'Jump to the newest line';
    return html`<button class="button newest" @click=${this.#jumpToNewest}>
      ${icon('toEnd', 14)}${label}
    </button>`;
  }

  /** Lays out again only when something it depends on changed. */
  #updateLayout(): void {
    const columns = this.isWrapped ? this.columns : null;
    const key = `${this.#revision} ${this.filter} ${columns} ${this.needle}`;
    if (key === this.#layoutOf) return;
    this.#layoutOf = key;
    const { rows } = this.#feed.buffer;
    const isError = this.filter === 'stderr';
    const shown =
      this.filter === 'all' ? rows.slice() : rows.filter((row) => row.gap > 0 || row.isError === isError);
    this.#layout = new LogLayout(shown, columns);
    const gone = this.#hits.update(shown, this.needle, this.filter);
    this.current = Math.max(0, Math.min(this.current - gone, this.#hits.found.length - 1));
  }

  /** Called before the new rows are laid out: keeps what the reader looks at in its place when older rows go. */
  #onAppend(added: number, removed: number): void {
    this.#revision += 1;
    if (this.isFollowing || !this.scroller) return;
    const before = this.#layout;
    this.unseen += added;
    const firstKept = this.#feed.buffer.rows[0]?.index ?? 0;
    if (removed === 0) return;
    const gone = before.rows.findIndex((row) => row.index >= firstKept);
    const lines = gone < 0 ? before.lineTotal : before.startOf(gone);
    this.scroller.scrollTop = this.#lastTop = Math.max(0, this.scroller.scrollTop - lines * this.#lineHeight);
  }

  get #gutterCells(): number {
    return this.hasTimes ? GUTTER_CELLS.on : GUTTER_CELLS.off;
  }

  #measure(): void {
    const cell = this.probe.getBoundingClientRect().width / 100;
    if (cell === 0) return;
    const room = this.scroller.clientWidth - ROW_PADDING_PX - this.#gutterCells * cell;
    this.columns = Math.max(20, Math.floor(room / cell));
    this.#lineHeight = parseFloat(getComputedStyle(this.scroller).lineHeight);
    this.requestUpdate();
  }

  readonly #onScroll = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 4;
    if (isAtEnd && this.isFollowing) return;
    if (isAtEnd) this.#follow();
    else if (scrollTop < this.#lastTop - 1) this.isFollowing = false;
    this.#lastTop = scrollTop;
    this.requestUpdate();
  };

  #follow(): void {
    this.isFollowing = true;
    this.unseen = 0;
  }

  readonly #jumpToNewest = (): void => {
    this.#follow();
    this.scroller.focus({ preventScroll: true });
  };

  readonly #onSearch = (event: Event): void => {
    this.needle = (event.target as HTMLInputElement).value.toLowerCase();
    this.current = 0;
    void this.updateComplete.then(() => this.#revealMatch());
  };

  readonly #onSearchKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    this.#step(event.shiftKey ? -1 : 1);
  };

  #step(by: number): void {
    const count = this.#hits.found.length;
    if (count === 0) return;
    this.current = (this.current + by + count) % count;
    this.#revealMatch();
  }

  #revealMatch(): void {
    const index = this.#hits.found[this.current];
    if (index === undefined) return;
    this.#scrollToRow(this.#layout.rows.findIndex((row) => row.index === index));
  }

  /** Where the line that is to be shown stands in the layout; -1: it is not here. */
  get #lineAt(): number {
    return this.#layout.rows.findIndex((row) => row.seq === this.line && row.gap === 0);
  }

  /** Puts it in the middle. */
  #scrollToRow(at: number): void {
    this.isFollowing = false;
    const middle = this.#layout.startOf(at) * this.#lineHeight - this.scroller.clientHeight / 2;
    this.scroller.scrollTop = this.#lastTop = Math.max(0, middle);
    this.requestUpdate();
  }

  #toggleWrap(): void {
    this.isWrapped = storeSwitch('wrap', !this.isWrapped);
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
}
