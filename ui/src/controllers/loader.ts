import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { isAbort, toApiError, type ApiError } from '../data/api.js';

export interface LoaderOptions<T> {
  load(signal: AbortSignal): Promise<T>;
  /** Also loads again this often while the page is visible; left out: only when asked. */
  everyMs?: number;
  /** One record, or what belongs to one: when the server does not have the record, it will not have it later either, so it loads again only when asked. */
  isRecord?: boolean;
}

const COALESCE_MS = 250;
/** How soon a server that did not answer, or could not, is asked again. */
const RETRY_MS = 3000;

/**
 * Keeps one answer of the server fresh: loads when its host appears, then at intervals and when asked. Requests never
 * overlap; many asks become one. After a failure the last value stays beside the error, and it loads by itself when the
 * server is back; a refusal is asked again at the interval alone.
 */
export class Loader<T> implements ReactiveController {
  value: T | undefined;
  error: ApiError | null = null;
  #current: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAskedAgain = false;
  #isConnected = false;
  #everyMs: number | null;

  readonly #host: ReactiveControllerHost;
  readonly #options: LoaderOptions<T>;

  constructor(host: ReactiveControllerHost, options: LoaderOptions<T>) {
    this.#host = host;
    this.#options = options;
    this.#everyMs = options.everyMs ?? null;
    host.addController(this);
  }

  hostConnected(): void {
    this.#isConnected = true;
    document.addEventListener('visibilitychange', this.#onVisible);
    this.reload();
  }

  hostDisconnected(): void {
    this.#isConnected = false;
    document.removeEventListener('visibilitychange', this.#onVisible);
    this.#stop();
  }

  /** The server had it, and has it no more. */
  get isDeleted(): boolean {
    return this.value !== undefined && this.error?.code === 'not_found';
  }

  /** Stops or resumes the interval; null once nothing can change any more. */
  set interval(everyMs: number | null) {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    this.#schedule();
  }

  /** Loads again soon; what is asked meanwhile becomes one request. */
  refresh(): void {
    if (!this.#isConnected) return;
    if (this.#current) this.#isAskedAgain = true;
    else this.#schedule(COALESCE_MS);
  }

  /** Loads at once, giving up a request under way; `clear` also forgets value and error, for another question. */
  reload({ clear = false } = {}): void {
    this.#stop();
    if (clear) {
      this.value = undefined;
      this.error = null;
    }
    void this.#run();
  }

  readonly #onVisible = (): void => {
    if (!document.hidden && this.#everyMs !== null && !this.isMissing) this.refresh();
  };

  #stop(): void {
    clearTimeout(this.#timer);
    this.#current?.abort();
    this.#current = null;
    this.#isAskedAgain = false;
  }

  async #run(): Promise<void> {
    if (!this.#isConnected) return;
    const request = new AbortController();
    this.#current = request;
    this.#host.requestUpdate();
    try {
      const value = await this.#options.load(request.signal);
      if (request.signal.aborted) return;
      this.value = value;
      this.error = null;
    } catch (error) {
      if (request.signal.aborted || isAbort(error)) return;
      this.error = toApiError(error);
    }
    this.#current = null;
    this.#schedule(this.#isAskedAgain ? COALESCE_MS : undefined);
    this.#isAskedAgain = false;
    this.#host.requestUpdate();
  }

  /** The server does not have the record. */
  get isMissing(): boolean {
    return this.#options.isRecord === true && this.error?.code === 'not_found';
  }

  get #intervalMs(): number | null {
    if (this.isMissing) return null;
    const isAway = this.error !== null && !this.error.isFinal;
    return isAway ? Math.min(this.#everyMs ?? RETRY_MS, RETRY_MS) : this.#everyMs;
  }

  #schedule(soonMs?: number): void {
    clearTimeout(this.#timer);
    const waitMs = soonMs ?? this.#intervalMs;
    if (waitMs === null || !this.#isConnected) return;
    this.#timer = setTimeout(() => this.#tick(), waitMs);
  }

  #tick(): void {
    if (document.hidden) this.#schedule();
    else if (!this.#current) void this.#run();
  }
}
