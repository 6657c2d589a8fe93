import { isolated } from './format.js';

/** Gives the browser's tab the name of what the page is about. */
export function nameTab(name: string): void {
  document.title = `${isolated(name)} · svc`;
}
