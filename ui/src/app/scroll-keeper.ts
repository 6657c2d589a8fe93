import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { historyMemory, type Kept } from '../history-memory.js';

interface KeptScroll extends Kept {
  readonly top: number;
}

/** So long a page that is still too short is given to grow. */
const PATIENCE_MS = 2000;
/** What the reader does goes before. */
const ACTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Scrolls the window to where it was when the reader left the entry of the history that is shown again. */
export class ScrollKeeper implements ReactiveController {
  #wanted: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** It tells of the first size too, once the page is laid out and before it is painted. */
  readonly #sizes = new ResizeObserver(() => this.#scroll());
  #stopKeeping = (): void => {};

  constructor(host: ReactiveControllerHost) {
    host.addController(this);
  }

  hostConnected(): void {
    history.scrollRestoration = 'manual';
    this.#stopKeeping = historyMemory.keep('scroll', () => this.#kept);
    for (const act of ACTS) window.addEventListener(act, this.#stop, { passive: true, capture: true });
  }

  hostDisconnected(): void {
    this.#stop();
    this.#stopKeeping();
    historyMemory.forget();
    for (const act of ACTS) window.removeEventListener(act, this.#stop, { capture: true });
  }

  /** To be called when the page of the address is shown. */
  arrive(): void {
    if (!historyMemory.arrive()) return;
    this.#stop();
    const kept = historyMemory.get<KeptScroll>('scroll');
    if (kept === undefined) return;
    this.#wanted = kept.top;
    this.#timer = setTimeout(this.#stop, PATIENCE_MS);
    this.#sizes.observe(document.documentElement);
  }

  get #kept(): KeptScroll | null {
    return this.#wanted === null ? { top: window.scrollY } : null;
  }

  #scroll(): void {
    if (this.#wanted === null) return;
    window.scrollTo(0, this.#wanted);
    if (Math.abs(window.scrollY - this.#wanted) < 1) this.#stop();
  }

  readonly #stop = (): void => {
    this.#wanted = null;
    clearTimeout(this.#timer);
    this.#sizes.disconnect();
  };
}
