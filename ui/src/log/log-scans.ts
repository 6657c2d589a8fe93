import { isTrouble } from '@svc/signals';
import type { LogStream } from '../data/jobs.js';
import type { LogFeed } from './log-feed.js';
import type { LogRow } from './log-rows.js';
import { LogScan, type ScanLine } from './log-scan.js';
import { isMatch } from './log-search.js';
import { firstAtOrAfter } from './log-space.js';

interface Listener {
  onChange(): void;
  /** A match is to be shown. */
  onGo(seq: number): void;
  /** An error is to be shown. */
  onError(seq: number): void;
  onNoError(): void;
}

/** What is looked for in the whole log: the lines of the stream that is shown, matches, and errors. */
export class LogScans {
  /** The lines of the stream that is shown; null: all are. */
  stream: LogScan | null = null;
  search: LogScan | null = null;
  errors: LogScan | null = null;
  /** Which match the reader stands on. */
  hit = 0;
  /** What is to be done once all error lines are known: to the next one, or to the one before. */
  #errorStep: 1 | -1 | 0 = 0;
  #shown: LogStream | null = null;

  constructor(
    private readonly feed: LogFeed,
    private readonly listener: Listener,
  ) {}

  get isSeekingError(): boolean {
    return this.#errorStep !== 0;
  }

  readonly isShown = ({ isError }: ScanLine): boolean =>
    this.#shown === null || isError === (this.#shown === 'stderr');

  add(added: readonly LogRow[]): void {
    for (const scan of [this.stream, this.search, this.errors]) scan?.add(added);
  }

  stop(): void {
    for (const scan of [this.stream, this.search, this.errors]) scan?.stop();
  }

  /** For another log. */
  forget(): void {
    this.stop();
    this.stream = this.search = this.errors = null;
    this.hit = this.#errorStep = 0;
  }

  /** null: both streams. What was found in others is forgotten. */
  choose(stream: LogStream | null): void {
    this.forget();
    this.#shown = stream;
    this.stream = stream === null ? null : this.#scan(this.isShown);
    this.listener.onChange();
  }

  /** `needle` is given by `toLowerCase`; empty: nothing. The reader is led to the first match, unless he stands at the line `from` already. */
  find(needle: string, from: number | null): void {
    this.search?.stop();
    this.search = null;
    this.hit = 0;
    let isFirst = true;
    const goToFirst = ({ found, isDone }: LogScan): void => {
      if (!isFirst || found.length === 0 || (from !== null && !isDone)) return;
      isFirst = false;
      if (from === null) this.listener.onGo(found[0]!);
      else this.hit = Math.min(firstAtOrAfter(found, from), found.length - 1);
    };
    if (needle !== '')
      this.search = this.#scan((line) => this.isShown(line) && isMatch(line, needle), goToFirst);
    this.listener.onChange();
  }

  step(by: 1 | -1): void {
    const found = this.search?.found ?? [];
    if (found.length === 0) return;
    this.hit = (this.hit + by + found.length) % found.length;
    this.listener.onGo(found[this.hit]!);
  }

  /** To the next error behind the line, or the one before it; `from` -1: the reader is at none. */
  stepError(by: 1 | -1, from: number): void {
    this.#errorStep = by;
    const go = (scan: LogScan): void => {
      if (scan.isDone) this.#goToError(scan.found, from);
    };
    if (this.errors) go(this.errors);
    else this.errors = this.#scan((line) => this.isShown(line) && isTrouble(line.text), go);
    this.listener.onChange();
  }

  #goToError(found: readonly number[], from: number): void {
    const by = this.#errorStep;
    this.#errorStep = 0;
    if (by === 0) return;
    if (found.length === 0) return this.listener.onNoError();
    const before = from < 0 ? found.length : firstAtOrAfter(found, from);
    const next = by > 0 ? firstAtOrAfter(found, from + 1) : before - 1;
    this.listener.onError(found[(next + found.length) % found.length]!);
  }

  #scan(test: (line: ScanLine) => boolean, onChange?: (scan: LogScan) => void): LogScan {
    const scan: LogScan = new LogScan(test, () => {
      onChange?.(scan);
      this.listener.onChange();
    });
    const { rows, isLoaded } = this.feed;
    if (rows.hasAll && isLoaded) scan.readAll([...rows.all()].filter((row) => !row.isMissing));
    else void scan.read((signal) => this.feed.scan(this.#shown, signal));
    return scan;
  }
}
