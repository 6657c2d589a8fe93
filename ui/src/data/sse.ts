import { SseParser, type SseEvent } from './sse-parser.js';

/**
 * connecting: asked, no answer yet. live: open. waiting: dropped, will try again. paused: the page is hidden.
 * ended: the server said it is complete. failed: refused for good.
 */
export type StreamState = 'connecting' | 'live' | 'waiting' | 'paused' | 'ended' | 'failed';

export interface StreamListener {
  /** All events that arrived together. */
  onEvents(events: SseEvent[]): void;
  onState?(state: StreamState, error?: unknown): void;
}

export interface StreamOptions extends StreamListener {
  /** Opens the stream; throws, with the answer's `status` where there was one, when it is refused. */
  connect(headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
  lastEventId?: string;
  /** Silence after which the connection counts as dead: three heartbeats. */
  silenceMs?: number;
  random?: () => number;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;

/** Reads server-sent events through fetch, so that the token travels in a header; reconnects with jitter and resumes by id. */
export class EventStream {
  private lastEventId: string | null;
  private connection: AbortController | null = null;
  private state: StreamState = 'paused';
  private failures = 0;

  constructor(private readonly options: StreamOptions) {
    this.lastEventId = options.lastEventId ?? null;
  }

  /** Connects, unless it is connected, has ended or was refused. */
  resume(): void {
    if (this.connection || this.state === 'ended' || this.state === 'failed') return;
    this.connection = new AbortController();
    void this.run(this.connection);
  }

  pause(): void {
    if (!this.connection) return;
    this.disconnect();
    this.setState('paused');
  }

  close(): void {
    this.disconnect();
    this.state = 'ended';
  }

  private disconnect(): void {
    this.connection?.abort();
    this.connection = null;
  }

  private async run(connection: AbortController): Promise<void> {
    const { signal } = connection;
    while (!signal.aborted) {
      this.setState('connecting');
      const outcome = await this.readOnce(signal);
      if (signal.aborted) return;
      if (outcome.kind !== 'dropped') {
        this.connection = null;
        this.setState(outcome.kind, outcome.error);
        return;
      }
      this.setState('waiting', outcome.error);
      await delay(outcome.retryMs ?? this.nextRetryMs(), signal);
    }
  }

  private async readOnce(signal: AbortSignal): Promise<Outcome> {
    const silence = new Silence(this.options.silenceMs ?? 45_000);
    const parser = new SseParser(this.lastEventId);
    try {
      const either = AbortSignal.any([signal, silence.signal]);
      const response = await this.options.connect(this.headers(), either);
      silence.touch();
      this.setState('live');
      const isEnded = await this.readBody(response, parser, silence, either);
      return isEnded ? { kind: 'ended' } : { kind: 'dropped', retryMs: parser.retryMs };
    } catch (error) {
      return isFinal(error) ? { kind: 'failed', error } : { kind: 'dropped', error, retryMs: parser.retryMs };
    } finally {
      silence.stop();
    }
  }

  /** True when the server sent `event: end`. */
  private async readBody(
    response: Response,
    parser: SseParser,
    silence: Silence,
    signal: AbortSignal,
  ): Promise<boolean> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      silence.touch();
      this.failures = 0;
      const events = parser.push(value);
      if (signal.aborted) return false;
      if (events.length > 0 && this.deliver(events)) {
        await reader.cancel();
        return true;
      }
    }
  }

  private deliver(events: SseEvent[]): boolean {
    this.lastEventId = events.at(-1)?.id ?? this.lastEventId;
    const messages = events.filter((event) => event.event !== 'end');
    if (messages.length > 0) this.options.onEvents(messages);
    return messages.length < events.length;
  }

  private headers(): Record<string, string> {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (this.lastEventId !== null) headers['last-event-id'] = this.lastEventId;
    return headers;
  }

  private nextRetryMs(): number {
    const random = this.options.random ?? Math.random;
    return retryDelayMs(this.failures++, random());
  }

  private setState(state: StreamState, error?: unknown): void {
    this.state = state;
    this.options.onState?.(state, error);
  }
}

type Outcome =
  | { kind: 'ended' | 'failed'; error?: unknown }
  | { kind: 'dropped'; error?: unknown; retryMs: number | null };

/** Doubles from half a second to 15 s; `random` (0 to 1) spreads clients over the upper half of it. */
export function retryDelayMs(failures: number, random: number): number {
  const ceiling = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  return ceiling * (0.5 + random / 2);
}

/** A refusal that trying again cannot change: any 4xx but 408 and 429. */
function isFinal(error: unknown): boolean {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Aborts when nothing was heard for so long. */
class Silence {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  readonly signal = this.controller.signal;

  constructor(private readonly afterMs: number) {
    this.touch();
  }

  touch(): void {
    this.stop();
    this.timer = setTimeout(() => this.controller.abort(), this.afterMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
