import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { historyMemory, type Kept } from '../history-memory.js';

interface KeptWindow extends Kept {
  readonly near: readonly number[];
  readonly heights: ReadonlyMap<number, number>;
}

/** So many rows are drawn, or left out, together. */
export const CHUNK_ROWS = 25;
/** How far beyond the window rows are drawn already. */
const MARGIN = '900px 0px';
/** Of a row that was never drawn, while none was measured. */
const GUESSED_ROW_PX = 40;

/**
 * Which chunks of a long table are drawn: those in and near the window. A chunk that is left out keeps the height that it had, so
 * that nothing moves. Its element has the number of the chunk in `data-chunk`.
 */
export class RowWindow implements ReactiveController {
  #near = new Set<number>();
  #heights = new Map<number, number>();
  readonly #elements = new Set<Element>();
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #sight = new IntersectionObserver((entries) => this.#onSight(entries), { rootMargin: MARGIN });

  #stopKeeping = (): void => {};
  /** Of the list, among those of the page. */
  readonly #name: () => string;

  constructor(host: ReactiveControllerHost & HTMLElement, name: () => string) {
    this.#host = host;
    this.#name = name;
    host.addController(this);
  }

  hostConnected(): void {
    const name = `rows of ${this.#name()}`;
    const kept = historyMemory.get<KeptWindow>(name);
    this.#near = new Set(kept?.near);
    this.#heights = new Map(kept?.heights);
    this.#stopKeeping = historyMemory.keep(name, () => this.#kept);
  }

  hostDisconnected(): void {
    this.#stopKeeping();
    this.#sight.disconnect();
    this.#elements.clear();
  }

  hostUpdated(): void {
    const present = new Set(this.#host.shadowRoot!.querySelectorAll('[data-chunk]'));
    for (const element of this.#elements) if (!present.has(element)) this.#forget(element);
    for (const element of present) {
      if (this.#elements.has(element)) continue;
      this.#elements.add(element);
      this.#sight.observe(element);
    }
  }

  /** The first ones are drawn before anything was measured. */
  isDrawn(chunk: number): boolean {
    return this.#near.has(chunk) || (this.#near.size === 0 && chunk < 2);
  }

  /** In pixels, of a chunk that is left out. */
  heightOf(chunk: number, rows: number): number {
    const known = this.#heights.get(chunk);
    if (known !== undefined) return known;
    const heights = [...this.#heights.values()];
    const total = heights.reduce((sum, height) => sum + height, 0);
    return heights.length === 0 ? rows * GUESSED_ROW_PX : (total / heights.length / CHUNK_ROWS) * rows;
  }

  get #kept(): KeptWindow | null {
    if (this.#near.size === 0) return null;
    return { near: [...this.#near], heights: new Map(this.#heights) };
  }

  #forget(element: Element): void {
    this.#sight.unobserve(element);
    this.#elements.delete(element);
    this.#near.delete(toChunk(element));
    this.#heights.delete(toChunk(element));
  }

  #onSight(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const chunk = toChunk(target);
      if (isIntersecting) this.#near.add(chunk);
      else if (this.#near.has(chunk) && !target.matches(':focus-within')) {
        this.#heights.set(chunk, boundingClientRect.height);
        this.#near.delete(chunk);
      }
    }
    this.#host.requestUpdate();
  }
}

function toChunk(element: Element): number {
  return Number((element as HTMLElement).dataset['chunk']);
}
