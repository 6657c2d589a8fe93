import { LogLayout } from './log-layout.js';
import type { LogRow } from './log-rows.js';
import { baseAround, LogSpace, MAX_LINES_SHOWN } from './log-space.js';

/** What the rows of a log have room in. */
export interface LogRoom {
  readonly lineHeightPx: number;
  readonly heightPx: number;
  /** Characters of a wrapped row; null: rows are not wrapped. */
  readonly columns: number | null;
}

const OVERSCAN = 10;

/** Where the reader is in a log: which lines can be scrolled to, how high each is, and how far it is scrolled. */
export class LogPlace {
  space = new LogSpace(null, 0, 0);
  layout = new LogLayout(null);
  isFollowing = true;
  topPx = 0;
  /** The line that is brought into view as soon as it is here; null: none. */
  target: number | null = null;
  room: LogRoom = { lineHeightPx: 20, heightPx: 600, columns: null };
  #base = 0;
  #layoutOf = '';

  constructor(private readonly rowOf: (seq: number) => LogRow | undefined) {}

  get base(): number {
    return this.#base;
  }

  get linesInView(): number {
    return Math.ceil(this.room.heightPx / this.room.lineHeightPx);
  }

  get isEndInReach(): boolean {
    return this.#base + this.space.count >= this.space.length;
  }

  /** The first line in view; null: there is none. */
  get topSeq(): number | null {
    const { count } = this.space;
    return count === 0 ? null : this.space.seqAt(Math.min(this.#topPosition, count - 1));
  }

  get #topPosition(): number {
    return this.layout.positionAt(Math.floor(this.topPx / this.room.lineHeightPx));
  }

  readonly rowAt = (position: number): LogRow | undefined => this.rowOf(this.space.seqAt(position));

  follow(): void {
    this.isFollowing = true;
    this.target = null;
  }

  goToStart(): void {
    this.isFollowing = false;
    this.#base = this.topPx = 0;
    this.target = null;
  }

  goTo(seq: number): void {
    this.isFollowing = false;
    this.target = seq;
  }

  /** For another log. */
  forget(): void {
    this.#base = 0;
    this.#layoutOf = '';
  }

  /** `seqs` null: all lines are shown. `key` tells one log and choice of lines from another. */
  show(seqs: readonly number[] | null, total: number, key: string): void {
    const { columns } = this.room;
    const length = seqs?.length ?? total;
    if (this.isFollowing) this.#base = Math.max(0, length - MAX_LINES_SHOWN);
    this.space = new LogSpace(seqs, total, this.#base);
    const layoutKey = `${key} ${columns} ${this.#base}`;
    if (layoutKey !== this.#layoutOf) this.layout = new LogLayout(columns);
    this.#layoutOf = layoutKey;
    this.layout.count = this.space.count;
  }

  /** Makes the line reachable by scrolling; whether `show` has to be called again. */
  reach(seq: number): boolean {
    const { length } = this.space;
    const index = this.space.positionOf(seq) + this.#base;
    if (index >= this.#base && index < this.#base + MAX_LINES_SHOWN) return false;
    this.#base = baseAround(index, length);
    return true;
  }

  /** Puts a text line of the row in the middle. */
  center(seq: number, lineOfRow: number): void {
    const position = this.space.positionOf(seq);
    this.#measureAround(position);
    const line = this.layout.startOf(position) + lineOfRow;
    this.topPx = Math.max(0, (line + 0.5) * this.room.lineHeightPx - this.room.heightPx / 2);
  }

  /** What the reader looks at stays in its place when rows above it turn out to be higher than thought. */
  measure(): void {
    if (this.isFollowing) return this.#measureAround(this.space.count);
    const at = this.#topPosition;
    const offset = this.topPx - this.layout.startOf(at) * this.room.lineHeightPx;
    this.#measureAround(at);
    this.topPx = this.layout.startOf(at) * this.room.lineHeightPx + offset;
  }

  /** The rows in view, and some beside them. */
  get window() {
    const bottom = Math.max(0, this.layout.lineTotal - this.linesInView);
    const top = Math.floor(this.topPx / this.room.lineHeightPx);
    const from = this.isFollowing ? bottom : Math.min(top, bottom);
    return this.layout.window(from - OVERSCAN, from + this.linesInView + OVERSCAN);
  }

  get positionsInView(): number[] {
    const { first, end } = this.window;
    return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  }

  /** The lines in view. */
  get seqsInView(): number[] {
    return this.positionsInView.map((position) => this.space.seqAt(position));
  }

  #measureAround(position: number): void {
    const margin = this.linesInView + OVERSCAN;
    const first = Math.max(0, position - margin);
    this.layout.measure(first, Math.min(this.space.count, position + margin), this.rowAt);
  }
}
