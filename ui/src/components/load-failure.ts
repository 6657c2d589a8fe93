import { html, type TemplateResult } from 'lit';
import './svc-notice.js';

/** In place of a page or a tab whose code could not be loaded. */
export function loadFailure(): TemplateResult {
  return html`<svc-notice
    tone="danger"
    headline="This page could not be loaded"
    action="Reload"
    @svc-action=${() => window.location.reload()}
    >The console may have been updated, or the server does not answer.</svc-notice
  >`;
}
