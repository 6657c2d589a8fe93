import { html, nothing, type TemplateResult } from 'lit';
import type { Loader } from '../controllers/loader.js';
import './svc-notice.js';
import './svc-skeleton.js';

/** A name and what it stands for, in a `<dl>`. */
export function fact(name: string, value: unknown, size = ''): TemplateResult {
  return html`<div class=${size || nothing}>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** In place of the page of one record: that it is loading, is unknown to the server, or could not be loaded. */
export function renderPending(record: Loader<unknown>, noun: string, listPath: string): TemplateResult {
  const { error } = record;
  if (!error) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
  const isUnknown = error.status === 404;
  return html`<svc-notice
    tone="danger"
    headline=${isUnknown ? `${noun[0]!.toUpperCase()}${noun.slice(1)} not found` : `The ${noun} could not be loaded`}
    action=${isUnknown ? '' : 'Try again'}
    @svc-action=${() => record.reload()}
    >${isUnknown ? html`<a href=${listPath}>Show all ${noun}s</a>` : error.message}</svc-notice
  >`;
}
