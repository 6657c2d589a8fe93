import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { isAbort, toApiError, type Api, type ApiError } from '../data/api.js';
import {
  MAX_TAIL,
  downloadLogLines,
  readLog,
  streamLog,
  tailLog,
  type LogLine,
  type LogStream,
  type PartialLine,
} from '../data/jobs.js';
import type { SseEvent } from '../data/live-stream.js';
import { stripAnsi } from '../ansi.js';
import { LogRows, toPartialRow, type LogRow } from './log-rows.js';
import type { ScanLine } from './log-scan.js';

/** More than a page can show between two frames: what is older is read again when it is looked at. */
const MAX_WAITING = 20_000;
/** Lines of one request. */
const PAGE_LINES = 1000;
/** Of them so many stand before the first that is looked at, when the reader has just come there. */
const LEAD_LINES = 300;
const RETRY_MS = 5000;

export interface LogSource {
  jobId: string;
  attempt: number;
  /** Whether lines may still come. */
  isLive: boolean;
}

/**
 * Fills `rows` with one attempt's log: the tail first, then live lines, and what the reader looks at. Lines that arrive
 * are taken over once per animation frame, however many there are.
 */
export class LogFeed implements ReactiveController {
  rows = new LogRows();
  /** The lines that have no end yet, at most one of each stream, as they are now. */
  readonly partials = new Map<LogStream, LogRow>();
  /** Lines that the agent had to drop, as the server counts them. */
  dropped = 0;
  /** There is no log at all. */
  error: ApiError | null = null;
  /** Lines that were looked at could not be read. */
  readError: ApiError | null = null;
  isLoaded = false;
  #source: LogSource | null = null;
  #waiting: (LogLine | PartialLine)[] = [];
  #request: AbortController | null = null;
  #close: (() => void) | null = null;
  #frame = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lastSeq: number | null = null;
  #isReading = false;
  /** Lines before the wanted one were so long that it was not among those that came. */
  #isLeadTooLong = false;

  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  readonly #onAppend: (added: readonly LogRow[]) => void;

  constructor(
    host: ReactiveControllerHost,
    api: () => Api,
    /** Lines have been printed; none: this is another log. */
    onAppend: (added: readonly LogRow[]) => void,
  ) {
    this.#host = host;
    this.#api = api;
    this.#onAppend = onAppend;
    host.addController(this);
  }

  hostConnected(): void {
    if (this.#source) this.#restart(this.#source);
  }

  hostDisconnected(): void {
    this.#stop();
  }

  /** It is there, and nothing was printed. */
  get isEmpty(): boolean {
    return this.isLoaded && this.rows.total === 0 && this.partials.size === 0;
  }

  /** Shows another log, or goes on live with the same one. */
  show(source: LogSource): void {
    const before = this.#source;
    this.#source = source;
    if (before && before.jobId === source.jobId && before.attempt === source.attempt) {
      if (source.isLive && !before.isLive && this.isLoaded) this.#follow();
      return;
    }
    this.#restart(source);
  }

  reload(): void {
    if (this.#source) this.#restart(this.#source);
  }

  /** The reader looks at these lines. Those that are not here are read; of `stream` alone, when there is one. */
  see(seqs: readonly number[], stream: LogStream | null): void {
    if (seqs.length > 0) this.rows.touch(seqs[0]!, seqs.at(-1)! + 1);
    const unread = seqs.filter((seq) => this.rows.get(seq) === undefined);
    const [first, last] = [unread[0], unread.at(-1)];
    if (first === undefined || last === undefined) return;
    if (this.#isReading || this.readError || !this.isLoaded) return;
    const lead = stream || this.#isLeadTooLong ? 0 : this.#leadOf(first, last);
    void this.#read(Math.max(0, first - lead), first, stream);
  }

  /** So that no line is read twice: behind lines that are here what comes next, before such lines what comes before them. */
  #leadOf(first: number, last: number): number {
    if (this.rows.get(first - 1)) return 0;
    return this.rows.get(last + 1) ? PAGE_LINES - (last - first + 1) : LEAD_LINES;
  }

  retryReading(): void {
    this.readError = null;
    this.#host.requestUpdate();
  }

  /** The whole log as far as it is there now; of `stream` alone, when there is one. */
  async *scan(stream: LogStream | null, signal: AbortSignal): AsyncGenerator<ScanLine[]> {
    const { jobId, attempt } = this.#source!;
    for await (const lines of downloadLogLines(this.#api(), jobId, attempt, stream, signal))
      yield lines.map(({ seq, stream: of, text }) => ({
        seq,
        isError: of === 'stderr',
        text: stripAnsi(text),
      }));
  }

  #restart(source: LogSource): void {
    this.#stop();
    this.rows = new LogRows();
    this.partials.clear();
    this.dropped = 0;
    this.#waiting = [];
    this.#lastSeq = null;
    this.#isLeadTooLong = false;
    this.isLoaded = false;
    this.error = this.readError = null;
    this.#onAppend([]);
    void this.#load(source);
  }

  #stop(): void {
    clearTimeout(this.#retry);
    this.#request?.abort();
    this.#close?.();
    this.#close = null;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#isReading = false;
  }

  async #load(source: LogSource): Promise<void> {
    const request = new AbortController();
    this.#request = request;
    try {
      const tail = await tailLog(this.#api(), source.jobId, source.attempt, request.signal);
      if (request.signal.aborted) return;
      this.dropped = tail.dropped;
      this.#append(tail.lines);
      const [first] = tail.lines;
      if (first) this.rows.settle(first.seq, this.rows.total);
    } catch (error) {
      if (request.signal.aborted || isAbort(error)) return;
      this.error = toApiError(error);
      this.#retry = setTimeout(() => this.reload(), RETRY_MS);
    }
    this.isLoaded = this.error === null;
    if (this.isLoaded && this.#source?.isLive) this.#follow();
    this.#host.requestUpdate();
  }

  /** From some lines before the one that is wanted. */
  async #read(from: number, seq: number, stream: LogStream | null): Promise<void> {
    const { jobId, attempt } = this.#source!;
    const { signal } = this.#request!;
    this.#isReading = true;
    try {
      const range = { from, tail: PAGE_LINES, stream };
      const { lines, truncated } = await readLog(this.#api(), jobId, attempt, range, signal);
      if (signal.aborted) return;
      this.rows.add(lines);
      const last = lines.at(-1)?.seq ?? -1;
      const end = truncated || lines.length === PAGE_LINES ? last + 1 : from + PAGE_LINES;
      this.#isLeadTooLong = end <= seq;
      if (!stream || last < seq) this.rows.settle(stream ? seq : from, stream ? seq + 1 : end);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.readError = toApiError(error);
    }
    this.#isReading = false;
    this.#host.requestUpdate();
  }

  /** Also for an attempt that has just ended: the stream replays what came after the tail, then ends. */
  #follow(): void {
    const source = this.#source;
    if (!source) return;
    this.#close?.();
    this.#close = streamLog(this.#api(), source.jobId, source.attempt, this.#lastSeq, {
      onEvents: (events) => this.#enqueue(events),
      onState: (state, error) => {
        // A stream that is opened anew says what there is by then.
        if (state === 'live') this.readError = null;
        else this.partials.clear();
        if (state === 'failed') this.error = toApiError(error);
        this.#host.requestUpdate();
      },
    });
  }

  #enqueue(events: readonly SseEvent[]): void {
    for (const event of events) this.#waiting.push(JSON.parse(event.data) as LogLine | PartialLine);
    if (this.#waiting.length > MAX_WAITING + MAX_TAIL)
      this.#waiting.splice(0, this.#waiting.length - MAX_WAITING);
    this.#frame ||= requestAnimationFrame(() => this.#takeOver());
  }

  #takeOver(): void {
    this.#frame = 0;
    const news = this.#waiting;
    this.#waiting = [];
    for (const line of news) {
      if ('seq' in line || line.text === '') this.partials.delete(line.stream);
      else this.partials.set(line.stream, toPartialRow(line, Date.now()));
    }
    const lines = news.filter((line) => 'seq' in line);
    if (lines.length > 0) this.#append(lines);
    this.#host.requestUpdate();
  }

  #append(lines: readonly LogLine[]): void {
    const last = this.#lastSeq;
    const news = last === null ? lines : lines.filter(({ seq }) => seq > last);
    this.#lastSeq = news.at(-1)?.seq ?? last;
    const added = this.rows.add(news);
    if (added.length > 0) this.#onAppend(added);
  }
}
