import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { singleKeysAreOn } from '../preferences.js';

/** `g` and then this letter go to the page of that name. */
export const PAGE_KEYS: Readonly<Record<string, string>> = {
  o: 'overview',
  j: 'jobs',
  r: 'runs',
  c: 'compare',
  p: 'projects',
  k: 'checkpoints',
  n: 'nodes',
  e: 'events',
  s: 'settings',
  t: 'tokens',
};
/** So long `g` waits for its letter. */
const SEQUENCE_MS = 1500;

export interface KeyActions {
  /** False: the keys do nothing, as before somebody has signed in. */
  isOn(): boolean;
  openPalette(): void;
  openHelp(): void;
  focusSearch(): void;
  goTo(pageName: string): void;
}

/** The keys of the whole console. Single keys do nothing while somebody types, or while a dialog is open. */
export class Keys implements ReactiveController {
  #sequenceUntil = 0;
  readonly #actions: KeyActions;

  constructor(host: ReactiveControllerHost, actions: KeyActions) {
    this.#actions = actions;
    host.addController(this);
  }

  hostConnected(): void {
    document.addEventListener('keydown', this.#onKey);
  }

  hostDisconnected(): void {
    document.removeEventListener('keydown', this.#onKey);
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || !this.#actions.isOn()) return;
    const isOwn = isPaletteKey(event) ? this.#openPalette(event) : this.#onSingleKey(event);
    if (isOwn) event.preventDefault();
  };

  #openPalette(event: KeyboardEvent): boolean {
    if (!isInDialog(event)) this.#actions.openPalette();
    return true;
  }

  #onSingleKey(event: KeyboardEvent): boolean {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !singleKeysAreOn()) return false;
    if (isTyping(event) || isInDialog(event)) return false;
    const isSecond = event.timeStamp < this.#sequenceUntil;
    this.#sequenceUntil = 0;
    const page = isSecond ? PAGE_KEYS[key] : undefined;
    if (page !== undefined) this.#actions.goTo(page);
    else if (key === '/') this.#actions.focusSearch();
    else if (key === '?') this.#actions.openHelp();
    else if (key === 'g') this.#sequenceUntil = event.timeStamp + SEQUENCE_MS;
    else return false;
    return true;
  }
}

/** Keeps what is typed while the palette is on its way, so that no key of it is lost or does something else. */
export class TypedAhead {
  text = '';

  constructor() {
    document.addEventListener('keydown', this.#onKey, true);
  }

  stop(): void {
    document.removeEventListener('keydown', this.#onKey, true);
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || key === 'Tab') return;
    if (key === 'Backspace') this.text = this.text.slice(0, -1);
    else if (key.length === 1) this.text += key;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
}

const SEARCH = 'input[type="search"], [role="search"] input';

/** The search of what is shown, of which there may be several: the first one in sight. */
export function findSearch(root: ParentNode): HTMLElement | null {
  for (const element of root.querySelectorAll<HTMLElement>('*')) {
    if (element.matches(SEARCH) && element.checkVisibility()) return element;
    const inner = element.shadowRoot && findSearch(element.shadowRoot);
    if (inner) return inner;
  }
  return null;
}

/** As people write it on this machine. */
export const PALETTE_KEY = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

function isPaletteKey({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !shiftKey && !altKey;
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}

function isInDialog(event: KeyboardEvent): boolean {
  return event.composedPath().some((target) => target instanceof HTMLDialogElement);
}
