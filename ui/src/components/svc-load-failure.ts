import { consume } from '@lit/context';
import { LitElement, html } from 'lit';
import { customElement } from 'lit/decorators.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { isAnswering } from '../data/service.js';
import './svc-notice.js';

const ASK_MS = 3000;

/** Code that did not arrive. Where that is because the server was away, the console loads again once it is back. */
@customElement('svc-load-failure')
export class SvcLoadFailure extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wasAway = false;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#look();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  override render() {
    return html`<svc-notice
      tone="danger"
      headline="This page could not be loaded"
      action="Try again"
      @svc-action=${() => window.location.reload()}
      >The console may have been updated, or the server does not answer. It loads by itself when the server is
      back.</svc-notice
    >`;
  }

  /** A server that answers does not have the code: to load again and again would not help. */
  async #look(): Promise<void> {
    const answers = await isAnswering(this.api);
    if (!this.isConnected) return;
    if (answers && this.#wasAway) return window.location.reload();
    if (answers) return;
    this.#wasAway = true;
    this.#timer = setTimeout(() => void this.#look(), ASK_MS);
  }
}
