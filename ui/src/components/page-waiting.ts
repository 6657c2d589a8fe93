import { html, nothing, type TemplateResult } from 'lit';
import { icon } from './icons.js';
import './svc-skeleton.js';

/** What stands above a page, such as the list that its record is in. */
export interface Crumb {
  readonly label: string;
  readonly path: string;
}

/** The head of a page that is on its way: where it lies and what it is. */
export function renderWaitingHead(
  title: string,
  above: Crumb | null,
  note: unknown = nothing,
): TemplateResult {
  return html`${above ? html`<a class="crumb" href=${above.path}>${icon('left', 14)}${above.label}</a>` : nothing}
    <header class="page-head">
      <h1>${title}</h1>
      ${note}
    </header>`;
}

/** A page that is on its way: its title at once, and in a moment the place of its content. */
export function renderWaiting(title: string, above: Crumb | null, note?: unknown): TemplateResult {
  return html`${renderWaitingHead(title, above, note)}
    <div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
}
