import { tellsOfFailure, type EventRecord } from '../data/event-list.js';
import { listEvents } from '../data/events.js';
import type { Api } from '../data/api.js';
import type { LiveFeed } from '../data/live-feed.js';
import { getStatus, type ServiceStatus } from '../data/service.js';
import { notify } from '../notifications.js';
import { setFavicon, type Mood } from './favicon.js';

const EVERY_MS = 30_000;
/** Events that come together are followed by one question. */
const SOON_MS = 1000;
/** As many are read while the tab is hidden, each time. */
const LIMIT = 100;

/**
 * Keeps the icon of the tab, and tells of critical events. The stream of events rests while the tab is hidden, so the newest events are
 * read from time to time then. Each event counts once.
 */
export class ServiceWatch {
  #status: ServiceStatus | null = null;
  #hasFailed = false;
  /** The newest event that was seen; null before the first answer. */
  #lastId: string | null = null;
  #request: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | null = null;

  readonly #api: Api;
  readonly #feed: LiveFeed;

  constructor(api: Api, feed: LiveFeed) {
    this.#api = api;
    this.#feed = feed;
  }

  start(): void {
    if (this.#unsubscribe) return;
    this.#unsubscribe = this.#feed.subscribe((events) => {
      this.#take(events);
      if (!this.#request) this.#schedule(SOON_MS);
    });
    document.addEventListener('visibilitychange', this.#onLook);
    // The page comes first.
    this.#schedule(SOON_MS);
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    document.removeEventListener('visibilitychange', this.#onLook);
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = this.#status = this.#lastId = null;
    this.#hasFailed = false;
    setFavicon('idle');
  }

  readonly #onLook = (): void => {
    if (document.hidden) return;
    this.#hasFailed = false;
    this.#draw();
    this.#schedule(SOON_MS);
  };

  #schedule(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), waitMs);
  }

  /** What fails is asked again later: the pages say that the server is away. */
  async #read(): Promise<void> {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    try {
      this.#status = await getStatus(this.#api, signal);
      if (document.hidden || this.#lastId === null) {
        const events = await listEvents(this.#api, { limit: this.#lastId === null ? 1 : LIMIT }, signal);
        if (this.#lastId === null) this.#lastId = events[0]?.id ?? '';
        else this.#take(events);
      }
    } catch {
      // Asked again below.
    }
    if (signal.aborted) return;
    this.#request = null;
    this.#draw();
    this.#schedule(EVERY_MS);
  }

  #take(events: readonly EventRecord[]): void {
    const last = this.#lastId ?? '';
    const fresh = events.filter(({ id }) => id > last);
    for (const { id } of fresh) if (id > (this.#lastId ?? '')) this.#lastId = id;
    for (const event of fresh) if (event.severity === 'critical') notify(event);
    if (!document.hidden || !fresh.some(tellsOfFailure)) return;
    this.#hasFailed = true;
    this.#draw();
  }

  #draw(): void {
    setFavicon(this.#mood);
  }

  get #mood(): Mood {
    if (this.#hasFailed) return 'failed';
    const { RUNNING = 0, DISPATCHING = 0, QUEUED = 0 } = this.#status?.jobs ?? {};
    if (RUNNING + DISPATCHING > 0) return 'running';
    return QUEUED > 0 ? 'waiting' : 'idle';
  }
}
