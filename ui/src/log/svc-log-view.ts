import { consume } from '@lit/context';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { toast } from '../components/svc-toasts.js';
import { Address } from '../controllers/address.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { choiceIn, chooseSwitch, readChoice, type LogChoice, type LogSwitch } from './log-choice.js';
import { LogFeed } from './log-feed.js';
import { isMeantElsewhere } from './log-keys.js';
import { shownPartials } from './log-layout.js';
import { renderCurrent, renderNewest, renderNotes, renderState } from './log-parts.js';
import { LogPlace } from './log-place.js';
import { toLineAddress, type RowLook } from './log-row.js';
import { showAll, type LogRow } from './log-rows.js';
import { LogScans } from './log-scans.js';
import { cellsBefore, toLowerCase } from './log-search.js';
import { logStyles } from './log-styles.js';
import { renderAttempts, renderPlaces, renderSearch, renderStreams, renderSwitches } from './log-tools.js';
import { GUTTER_CELLS, renderWindow, ROW_PADDING_PX } from './log-window.js';
import { saveLog } from './save-log.js';

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
  /** The seq of the line at which the log opens; null: at its end. It may come later than the log. */
  @property({ attribute: false }) opening: number | null = null;
  /** The seq of the line that the reader has gone to; -1: to none. */
  @state() private current = -1;
  @state() private unseen = 0;
  @query('.scroll') private readonly scroller!: HTMLElement;
  @query('.probe') private readonly probe!: HTMLElement;
  @query('input.needle') private readonly searchField!: HTMLInputElement;

  readonly #address = new Address(this);
  #choice = readChoice(this.#address);
  /** The choice that the log has been searched for; null: it is another log. */
  #searched: LogChoice | null = null;
  readonly #feed = new LogFeed(
    this,
    () => this.api,
    (added) => this.#onAppend(added),
  );
  readonly #scans = new LogScans(this.#feed, {
    onChange: () => this.requestUpdate(),
    onGo: (seq) => this.#goTo(seq),
    onError: (seq) => this.#goToAddress(seq, { replace: true }),
    onNoError: () => toast('No line of this log tells of an error.'),
  });
  readonly #place = new LogPlace((seq) => this.#feed.rows.get(seq));
  #isOpened = false;
  #typing: ReturnType<typeof setTimeout> | undefined;
  #cellPx = 7;
  #widthPx = 640;
  #lineHeightPx = 20;
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
    clearTimeout(this.#typing);
    this.#scans.stop();
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
    const isAsked = changed.has('line') || changed.has('attempt');
    if (isAsked && this.line !== null && this.line !== this.current) this.#goTo(this.line);
    this.#choice = readChoice(this.#address);
    if (this.#feed.isLoaded) this.#followChoice();
    if (this.#feed.isLoaded && this.opening !== null) this.#open(this.opening);
    this.toggleAttribute('empty', this.#feed.isEmpty && !this.live);
    this.#updatePlace();
    this.#aim();
    this.#place.measure();
  }

  override updated(): void {
    const { scroller } = this;
    scroller.scrollTop = this.#place.isFollowing ? scroller.scrollHeight : this.#place.topPx;
    this.#place.topPx = scroller.scrollTop;
    this.#feed.see(this.#place.seqsInView, this.#choice.stream);
  }

  /** As the lines are compared with it. */
  get #needle(): string {
    return toLowerCase(this.#choice.search);
  }

  /** Characters of a wrapped line. */
  get #columns(): number {
    const room = this.#widthPx - ROW_PADDING_PX - this.#gutterCells * this.#cellPx;
    return Math.max(20, Math.floor(room / this.#cellPx));
  }

  /** The log is searched for what the address asks, and the reader stays where he is. */
  #followChoice(): void {
    const [now, before] = [this.#choice, this.#searched];
    this.#searched = now;
    if (before === null) return this.#scanAgain(this.line);
    const { isFollowing, topSeq } = this.#place;
    const isOtherStream = now.stream !== before.stream;
    const isMoved = isOtherStream ? this.#needle === '' : now.isWrapped !== before.isWrapped;
    if (isMoved && !isFollowing)
      this.#place.target = !isOtherStream && this.current >= 0 ? this.current : topSeq;
    if (isOtherStream) this.#scanAgain(null);
    else if (now.search !== before.search) this.#findSoon();
  }

  /** To the first match; with the line that is asked for, it stays there. */
  #scanAgain(line: number | null): void {
    this.#scans.choose(this.#choice.stream);
    this.#scans.find(this.#needle, line);
  }

  #findSoon(): void {
    clearTimeout(this.#typing);
    const find = () => this.#scans.find(this.#needle, null);
    if (this.#feed.rows.hasAll || this.#needle === '') find();
    else this.#typing = setTimeout(find, TYPING_MS);
  }

  #updatePlace(): void {
    this.#place.room = {
      lineHeightPx: this.#lineHeightPx,
      heightPx: this.scroller?.clientHeight ?? 600,
      columns: this.#choice.isWrapped ? this.#columns : null,
    };
    const key = `${this.jobId} ${this.attempt} ${this.#choice.stream}`;
    this.#place.show(this.#scans.stream?.found ?? null, this.#feed.rows.total, key);
  }

  /** Scrolls to the line that the reader wants to see; it stays the aim until it is here. */
  #aim(): void {
    const seq = this.#place.target;
    if (seq === null || !this.#feed.isLoaded || !this.hasUpdated) return;
    if (this.#place.reach(seq)) this.#updatePlace();
    const row = this.#feed.rows.get(seq);
    const cells = cellsBefore(row, this.#needle);
    const { isWrapped } = this.#choice;
    this.#place.center(seq, isWrapped ? Math.floor(cells / this.#columns) : 0);
    if (row && !isWrapped) void this.updateComplete.then(() => this.#scrollAcross(cells));
    if (row || seq >= this.#feed.rows.total) this.#place.target = null;
  }

  /** What was searched for is in view when its row is long. */
  #scrollAcross(cells: number): void {
    const right = (cells + this.#needle.length + this.#gutterCells) * this.#cellPx + ROW_PADDING_PX;
    const { clientWidth } = this.scroller;
    this.scroller.scrollLeft = right < clientWidth ? 0 : right - clientWidth / 2;
  }

  /** Once for each log, unless the address or the reader leads elsewhere. The page stays where it is. */
  #open(seq: number): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    const isAtEnd = this.line === null && this.#needle === '' && this.#place.isFollowing;
    if (isAtEnd && seq < this.#feed.rows.total) this.#show(seq);
  }

  #onAppend(added: readonly LogRow[]): void {
    if (added.length === 0) return this.#forget();
    this.#scans.add(added);
    if (this.#place.isFollowing || !this.#feed.isLoaded) return;
    this.unseen += added.filter(this.#scans.isShown).length;
  }

  /** This is another log. */
  #forget(): void {
    this.#scans.forget();
    this.#place.forget();
    this.current = -1;
    this.unseen = 0;
    this.#searched = null;
    this.#isOpened = false;
  }

  #goTo(seq: number): void {
    this.#isOpened = true;
    this.#show(seq);
    this.scrollIntoView({ block: 'nearest' });
  }

  /** The line is in the address from now on, as one that is clicked. */
  #goToAddress(seq: number, options?: { readonly replace: boolean }): void {
    this.#goTo(seq);
    navigate(toLineAddress(this.#logAddress, seq), options);
  }

  #show(seq: number): void {
    this.#place.goTo(seq);
    this.current = seq;
    const row = this.#feed.rows.get(seq);
    if (row?.isCut && cellsBefore(row, this.#needle) > 0) this.#showAll(row);
    this.requestUpdate();
  }

  #showAll(row: LogRow): void {
    showAll(row);
    this.#place.layout.forget(this.#place.space.positionOf(row.seq));
    this.requestUpdate();
  }

  #goToStart(): void {
    this.#place.goToStart();
    this.requestUpdate();
  }

  #follow(): void {
    this.#place.follow();
    this.unseen = 0;
    this.requestUpdate();
  }

  get #gutterCells(): number {
    return this.#feed.rows.digits + (this.#choice.hasTimes ? GUTTER_CELLS.on : GUTTER_CELLS.off);
  }

  #measure(): void {
    const cell = this.probe.getBoundingClientRect().width / 100;
    if (cell === 0) return;
    this.#cellPx = cell;
    this.#widthPx = this.scroller.clientWidth;
    this.#lineHeightPx = parseFloat(getComputedStyle(this.scroller).lineHeight);
    this.requestUpdate();
  }

  readonly #onScroll = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const place = this.#place;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 4;
    if (isAtEnd && place.isFollowing) return;
    if (scrollTop < place.topPx - 1) place.isFollowing = false;
    else if (isAtEnd && place.target === null && place.isEndInReach) this.#follow();
    place.topPx = scrollTop;
    this.requestUpdate();
  };

  /** The reader goes elsewhere than to what was to be shown. */
  readonly #onOwnWay = (): void => {
    this.#isOpened = true;
    this.#place.target = null;
  };

  readonly #jumpToNewest = (): void => {
    this.#follow();
    this.scroller.focus({ preventScroll: true });
  };

  readonly #onSearch = (event: Event): void => {
    this.#address.set({ search: (event.target as HTMLInputElement).value });
  };

  #clearSearch(): void {
    this.#address.set({ search: null });
    this.scroller.focus({ preventScroll: true });
  }

  /** `/` from anywhere in the page, when nobody else takes it. */
  readonly #onKeyOfPage = (event: KeyboardEvent): void => {
    if (event.key !== '/' || event.defaultPrevented || isMeantElsewhere(event)) return;
    event.preventDefault();
    this.searchField.focus();
    this.searchField.select();
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const act = isMeantElsewhere(event) ? undefined : this.#keys[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  };

  readonly #keys: Readonly<Record<string, () => void>> = {
    n: () => this.#scans.step(1),
    N: () => this.#scans.step(-1),
    e: () => this.#scans.stepError(1, this.current),
    E: () => this.#scans.stepError(-1, this.current),
    Home: () => this.#goToStart(),
    End: () => this.#follow(),
    Escape: () => (this.#needle === '' ? (this.current = -1) : this.#clearSearch()),
  };

  override render() {
    const { space } = this.#place;
    const { isWrapped, stream } = this.#choice;
    return html`<div class="whole" @keydown=${this.#onKey}>
      ${this.#renderTools()} ${renderNotes(this.#feed, this.#scans, space, this.current)}
      <div class="frame">
        <div
          class="scroll ${isWrapped ? 'wrapped' : ''} ${this.current < 0 ? '' : 'marked'}"
          tabindex="0"
          role="log"
          aria-label="Log of attempt ${this.attempt}"
          aria-live="off"
          @scroll=${this.#onScroll}
          @wheel=${{ handleEvent: this.#onOwnWay, passive: true }}
          @touchmove=${{ handleEvent: this.#onOwnWay, passive: true }}
          @pointerdown=${this.#onOwnWay}
        >
          ${renderWindow(this.#place, shownPartials(this.#feed.partials, stream), this.#look, {
            px: ROW_PADDING_PX,
            cells: this.#gutterCells,
          })}
        </div>
        <span class="probe" aria-hidden="true">${'0'.repeat(100)}</span>
        ${renderState(this, this.#feed, this.#scans, stream)}
        <div class="overlay">
          ${this.#renderCurrent()} ${renderNewest(this.#place, this.unseen, this.#jumpToNewest)}
        </div>
      </div>
    </div>`;
  }

  #renderTools() {
    const choose = (attempt: number) =>
      this.dispatchEvent(new CustomEvent('svc-attempt', { detail: attempt }));
    const { total } = this.#feed.rows;
    const { search, stream } = this.#choice;
    const turn = (name: LogSwitch, isOn: boolean) => this.#address.set(chooseSwitch(name, isOn));
    return html`<div class="tools">
      ${renderStreams(stream, (chosen) => this.#address.set({ stream: chosen }))}
      ${renderSearch({
        text: search,
        scans: this.#scans,
        total,
        onInput: this.#onSearch,
        onClear: () => this.#clearSearch(),
        step: (by) => this.#scans.step(by),
      })}
      ${renderPlaces({
        stepError: (by) => this.#scans.stepError(by, this.current),
        goToStart: () => this.#goToStart(),
        goToLine: (line) => this.#goToAddress(line - 1),
      })}
      <span class="spacer"></span>
      ${this.attempts > 1 ? renderAttempts(this.attempt, this.attempts, choose) : nothing}
      ${renderSwitches(this.#choice, turn, () => void saveLog(this.api, this.jobId, this.attempt))}
    </div>`;
  }

  get #look(): RowLook {
    return {
      needle: this.#needle,
      hasTimes: this.#choice.hasTimes,
      digits: this.#feed.rows.digits,
      current: this.current,
      address: this.#logAddress,
      onAll: (row) => this.#showAll(row),
    };
  }

  /** The log as it is shown here, without a line. */
  get #logAddress(): string {
    return paths.job(this.jobId, { attempt: String(this.attempt), ...choiceIn(this.#address) });
  }

  #renderCurrent() {
    const row = this.current < 0 ? undefined : this.#feed.rows.get(this.current);
    return row ? renderCurrent(row, toLineAddress(this.#logAddress, row.seq)) : nothing;
  }
}
