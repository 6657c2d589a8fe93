import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { toApiError, type ApiError } from '../data/api.js';
import type { ListPage } from '../data/lists.js';
import { historyMemory, type Kept } from '../history-memory.js';
import {
  EMPTY_LIST,
  withFirstPage,
  withItem,
  withNew,
  withNextPage,
  withSortedFirstPage,
  withSortedNextPage,
  withWaiting,
  type ListItem,
  type ListState,
} from './list-state.js';
import { Loader } from './loader.js';

interface KeptList<T> extends Kept {
  readonly question: string;
  readonly state: ListState<T>;
}

export interface ListOptions<T> {
  /** Of one of several lists of its host. */
  readonly name?: string;
  /** The page behind the last item that is held, or the first one. */
  read(last: T | null, signal: AbortSignal): Promise<ListPage<T>>;
  /** One item as it is now; null when it no longer belongs to the list. */
  readItem?(id: string): Promise<T | null>;
  /** Whatever `read` depends on: another filter is another question. */
  question(): string;
  everyMs: number;
  /** The server has sorted the items, by something else than their time. */
  isSorted?(): boolean;
  /** The list of one record: without the record there is nothing to ask for again. */
  isOfRecord?: boolean;
  /** New items wait, so that what is read now does not move away. */
  isHolding?(): boolean;
}

type Host = ReactiveControllerHost & Element;

/** `filtering`: the items of another question are still there, and those of this one are on their way. */
export type ListPhase = 'loading' | 'filtering' | 'ready' | 'failed';

/** What `svc-list` draws, and what can be asked of the list there. */
export interface ListView<T> extends ListState<T> {
  readonly phase: ListPhase;
  /** Why the list could not be loaded, or not be refreshed. */
  readonly error: ApiError | null;
  readonly isLoadingMore: boolean;
  /** Loads the newest page again, at once. */
  retry(): void;
  /** Loads the page behind the last item; throws what went wrong. */
  loadMore(): Promise<void>;
  /** Puts on top what was held back. */
  showWaiting(): void;
}

const MOST_ITEMS = 1000;
/** Of a list that was found again so many are read anew at once; those behind them change with what the server tells of them. */
const MOST_READ_ANEW = 2000;

/**
 * A list of the server that stays fresh: filters, pages, live changes. Items of an old filter stay until the new ones are there. Who comes
 * back to it through the history of the browser finds the items that they had loaded.
 */
export class ListController<T extends ListItem> implements ReactiveController {
  #state: ListState<T> = EMPTY_LIST;
  #isLoadingMore = false;
  readonly #host: Host;
  readonly #options: ListOptions<T>;
  readonly #loader: Loader<ListPage<T>>;
  /** The question that #state answers; null before the first answer. */
  #answered: string | null = null;
  #asked: string | null = null;
  /** So many of the items are of the newest page. */
  #newest = 0;
  /** So many are to be read with the newest page. */
  #readAnew = 0;
  #stopKeeping = (): void => {};
  #more = new AbortController();

  constructor(host: Host, options: ListOptions<T>) {
    this.#host = host;
    this.#options = options;
    this.#loader = new Loader(host, {
      load: (signal) => this.#readFirst(signal),
      everyMs: options.everyMs,
      isRecord: options.isOfRecord ?? false,
    });
    host.addController(this);
  }

  /** As it is now: another object whenever it is asked for, so that an element which gets it draws again. */
  get view(): ListView<T> {
    return {
      ...this.#state,
      phase: this.#phase,
      error: this.#loader.error,
      isLoadingMore: this.#isLoadingMore,
      retry: () => this.#loader.reload(),
      loadMore: () => this.#loadMore(),
      showWaiting: () => this.showWaiting(),
    };
  }

  hostConnected(): void {
    this.#stopKeeping = historyMemory.keep(this.#name, () => this.#kept);
  }

  hostUpdate(): void {
    const question = this.#options.question();
    if (question === this.#asked) return;
    const isFirst = this.#asked === null;
    this.#asked = question;
    this.#more.abort();
    this.#isLoadingMore = false;
    if (!isFirst) this.#loader.reload({ clear: true });
  }

  hostDisconnected(): void {
    this.#stopKeeping();
    this.#more.abort();
  }

  /** Loads the newest page again, soon. */
  refresh(): void {
    this.#loader.refresh();
  }

  /** As `refresh`, and reads those of the items again that are behind the newest page. */
  refreshItems(ids: ReadonlySet<string>): void {
    this.refresh();
    const older = this.#state.items.slice(this.#newest).filter(({ id }) => ids.has(id));
    for (const { id } of older) void this.#refreshItem(id);
  }

  /** Puts items on top that have just been made. */
  add(items: readonly T[]): void {
    if (this.#phase !== 'ready') return this.refresh();
    this.#set(withNew(this.#state, items, this.#isHolding, MOST_ITEMS));
  }

  /** Puts on top what was held back. */
  showWaiting(): void {
    if (this.#state.waiting.length > 0) this.#set(withWaiting(this.#state, MOST_ITEMS));
  }

  get #phase(): ListPhase {
    if (this.#answered === this.#asked && this.#answered !== null) return 'ready';
    if (this.#loader.error) return 'failed';
    return this.#answered === null ? 'loading' : 'filtering';
  }

  async #loadMore(): Promise<void> {
    const more = (this.#more = new AbortController());
    this.#isLoadingMore = true;
    this.#host.requestUpdate();
    try {
      const page = await this.#options.read(this.#state.items.at(-1) ?? null, more.signal);
      if (!more.signal.aborted) this.#state = this.#withNextPage(this.#state, page);
    } catch (error) {
      if (!more.signal.aborted) throw toApiError(error);
    } finally {
      if (!more.signal.aborted) this.#isLoadingMore = false;
      this.#host.requestUpdate();
    }
  }

  get #isHolding(): boolean {
    return this.#state.items.length > 0 && (this.#options.isHolding?.() ?? false);
  }

  async #readFirst(signal: AbortSignal): Promise<ListPage<T>> {
    const question = this.#options.question();
    if (question !== this.#answered) this.#find(question);
    const page = await this.#options.read(null, signal);
    const pages = await this.#readBehind(page, signal);
    if (signal.aborted) return page;
    const isAnother = question !== this.#answered;
    this.#state = isAnother ? withFirstPage<T>(EMPTY_LIST, page) : this.#withFirstPage(pages);
    this.#answered = question;
    this.#newest = page.items.length;
    this.#readAnew = 0;
    return page;
  }

  get #name(): string {
    return `${this.#host.localName} ${this.#options.name ?? ''}`;
  }

  get #kept(): KeptList<T> | null {
    if (this.#answered === null) return null;
    return { question: this.#answered, state: this.#state, rows: this.#state.items.length };
  }

  /** What was kept for this entry of the history is shown until it is read anew. */
  #find(question: string): void {
    this.#readAnew = 0;
    const kept = historyMemory.get<KeptList<T>>(this.#name);
    if (kept?.question !== question) return;
    this.#state = kept.state;
    this.#answered = question;
    this.#readAnew = Math.min(kept.state.items.length, MOST_READ_ANEW);
  }

  /** The page with those behind it that are to be read anew. */
  async #readBehind(first: ListPage<T>, signal: AbortSignal): Promise<ListPage<T>> {
    let all: ListState<T> = { ...EMPTY_LIST, ...first };
    while (all.hasMore && all.items.length < this.#readAnew && !signal.aborted)
      all = this.#withNextPage(all, await this.#options.read(all.items.at(-1) ?? null, signal));
    return all;
  }

  #withFirstPage(page: ListPage<T>): ListState<T> {
    if (this.#options.isSorted?.()) return withSortedFirstPage(this.#state, page);
    return withFirstPage(this.#state, page, this.#isHolding);
  }

  #withNextPage(held: ListState<T>, page: ListPage<T>): ListState<T> {
    return (this.#options.isSorted?.() ? withSortedNextPage : withNextPage)(held, page);
  }

  async #refreshItem(id: string): Promise<void> {
    const question = this.#asked;
    const item = await this.#options.readItem?.(id).catch(() => undefined);
    if (item !== undefined && question === this.#answered) this.#set(withItem(this.#state, id, item));
  }

  #set(state: ListState<T>): void {
    this.#state = state;
    this.#host.requestUpdate();
  }
}
