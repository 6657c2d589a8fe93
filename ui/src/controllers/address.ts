import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { historyMemory } from '../history-memory.js';

/** How a change reaches the address: as a step that the back button undoes, in place, or not yet, as during a drag. */
export type AddressWay = 'push' | 'replace' | 'hold';

/**
 * The part of the page's address that an element keeps its state in. It changes the address without a navigation: the page
 * stays as it is, and follows only when somebody goes back or forth.
 */
export class Address implements ReactiveController {
  #query = new URLSearchParams(window.location.search);
  readonly #host: ReactiveControllerHost;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    window.addEventListener('popstate', this.#follow);
    window.addEventListener('svc-navigate', this.#follow);
    this.#follow();
  }

  hostDisconnected(): void {
    window.removeEventListener('popstate', this.#follow);
    window.removeEventListener('svc-navigate', this.#follow);
  }

  get(name: string): string | null {
    return this.#query.get(name);
  }

  /** null takes a name out. */
  set(changes: Readonly<Record<string, string | null>>, way: AddressWay = 'replace'): void {
    const query = new URLSearchParams(this.#query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') query.delete(name);
      else query.set(name, value);
    }
    this.#query = query;
    const text = query.size === 0 ? '' : `?${query.toString()}`;
    const path = `${window.location.pathname}${text}`;
    const isHere = path === window.location.pathname + window.location.search;
    if (way === 'push' && !isHere) push(path);
    else if (way !== 'hold') history.replaceState(history.state, '', path);
    this.#host.requestUpdate();
  }

  readonly #follow = (): void => {
    this.#query = new URLSearchParams(window.location.search);
    this.#host.requestUpdate();
  };
}

/** The page is the same one at both entries of the history. */
function push(path: string): void {
  historyMemory.leave();
  history.pushState(null, '', path);
  historyMemory.arrive();
}
