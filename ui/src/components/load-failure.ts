import { html, type TemplateResult } from 'lit';
import './svc-load-failure.js';

/** In place of a page or a tab whose code could not be loaded. */
export function loadFailure(): TemplateResult {
  return html`<svc-load-failure></svc-load-failure>`;
}
