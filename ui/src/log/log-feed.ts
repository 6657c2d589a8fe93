import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { isAbort, toApiError, type Api, type ApiError } from '../data/api.js';
import { streamLog, tailLog, type LogLine, type PartialLine } from '../data/jobs.js';
import type { SseEvent } from '../data/live-stream.js';
import { LogBuffer, toPartialRow, type LogRow } from './log-buffer.js';

/** More than a page can show between two frames: what is older would be given up by the buffer anyway. */
const MAX_WAITING = 20_000;

export interface LogSource {
  jobId: string;
  attempt: number;
  /** Whether lines may still come. */
  isLive: boolean;
}

/**
 * Fills a buffer with one attempt's log: the tail first, then live lines. Lines that arrive are taken over once per
 * animation frame, however many there are.
 */
export class LogFeed implements ReactiveController {
  buffer = new LogBuffer();
  /** The lines that have no end yet, at most one of each stream, as they are now. */
  readonly partials = new Map<LogLine['stream'], LogRow>();
  /** Lines that the agent had to drop, as the server counts them. */
  dropped = 0;
  error: ApiError | null = null;
  isLoaded = false;
  #source: LogSource | null = null;
  #waiting: (LogLine | PartialLine)[] = [];
  #request: AbortController | null = null;
  #close: (() => void) | null = null;
  #frame = 0;

  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  readonly #onAppend: (added: number, removed: number) => void;

  constructor(
    host: ReactiveControllerHost,
    api: () => Api,
    onAppend: (added: number, removed: number) => void,
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

  #restart(source: LogSource): void {
    this.#stop();
    this.buffer = new LogBuffer();
    this.partials.clear();
    this.dropped = 0;
    this.#waiting = [];
    this.isLoaded = false;
    this.error = null;
    void this.#load(source);
  }

  #stop(): void {
    this.#request?.abort();
    this.#close?.();
    this.#close = null;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  async #load(source: LogSource): Promise<void> {
    const request = new AbortController();
    this.#request = request;
    try {
      const tail = await tailLog(this.#api(), source.jobId, source.attempt, request.signal);
      if (request.signal.aborted) return;
      this.dropped = tail.dropped;
      this.#append(tail.lines);
    } catch (error) {
      if (request.signal.aborted || isAbort(error)) return;
      this.error = toApiError(error);
    }
    this.isLoaded = this.error === null;
    if (this.isLoaded && this.#source?.isLive) this.#follow();
    this.#host.requestUpdate();
  }

  /** Also for an attempt that has just ended: the stream replays what came after the tail, then ends. */
  #follow(): void {
    const { buffer } = this;
    const source = this.#source;
    if (!source) return;
    this.#close?.();
    this.#close = streamLog(this.#api(), source.jobId, source.attempt, buffer.lastSeq, {
      onEvents: (events) => this.#enqueue(events),
      onState: (state, error) => {
        // A stream that is opened anew says what there is by then.
        if (state !== 'live') this.partials.clear();
        if (state === 'failed') this.error = toApiError(error);
        this.#host.requestUpdate();
      },
    });
  }

  #enqueue(events: readonly SseEvent[]): void {
    for (const event of events) this.#waiting.push(JSON.parse(event.data) as LogLine | PartialLine);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.splice(0, this.#waiting.length - MAX_WAITING);
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
    const removed = this.buffer.append(lines);
    this.#onAppend(lines.length, removed);
  }

  reload(): void {
    if (this.#source) this.#restart(this.#source);
  }
}
