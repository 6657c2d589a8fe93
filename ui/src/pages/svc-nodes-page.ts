import { consume } from '@lit/context';
import { LitElement, css, html } from 'lit';
import { customElement } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-node-card.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { listNodes, type NodeRecord } from '../data/nodes.js';
import { getStatus } from '../data/service.js';
import { plural } from '../format.js';
import { baseStyles, pageStyles } from '../styles/shared.js';

const ORDER: Readonly<Record<NodeRecord['status'], number>> = { ONLINE: 0, DRAINING: 1, OFFLINE: 2 };

/** The machines, their slots, and who holds them. */
@customElement('svc-nodes-page')
export class SvcNodesPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  readonly #nodes = new Loader(this, { load: (signal) => listNodes(this.api, signal), everyMs: 5000 });
  readonly #status = new Loader(this, {
    load: (signal) => getStatus(this.api, signal),
    everyMs: 10_000,
  });

  static override styles = [
    baseStyles,
    pageStyles,
    css`
      .grid {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr));
        gap: var(--space-4);
        align-items: start;
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, () => {
      this.#nodes.refresh();
      this.#status.refresh();
    });
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Nodes</h1>
        <p class="summary">${this.#summary}</p>
      </header>
      <svc-stale
        .error=${this.#nodes.value ? this.#nodes.error : null}
        @svc-retry=${() => this.#nodes.reload()}
      ></svc-stale>
      ${this.#renderNodes()}
    `;
  }

  get #summary(): string {
    const slots =
      this.#nodes.value?.filter((node) => node.status !== 'OFFLINE').flatMap((node) => node.slots) ?? [];
    if (slots.length === 0) return '';
    return `${slots.filter(({ busy, health }) => !busy && health.state === 'ok').length} of ${plural(slots.length, 'GPU')} free`;
  }

  #renderNodes() {
    const nodes = this.#nodes.value;
    if (!nodes)
      return this.#nodes.error
        ? this.#renderError()
        : html`<div class="panel"><svc-skeleton></svc-skeleton></div>`;
    if (nodes.length === 0) return this.#renderEmpty();
    const sorted = [...nodes].sort((a, b) => ORDER[a.status] - ORDER[b.status] || (a.name < b.name ? -1 : 1));
    return html`<div class="grid">
      ${repeat(
        sorted,
        (node) => node.id,
        (node) =>
          html`<svc-node-card
            .node=${node}
            .running=${this.#status.value?.running ?? []}
            @svc-node-changed=${() => this.#nodes.reload()}
          ></svc-node-card>`,
      )}
    </div>`;
  }

  #renderEmpty() {
    const { origin } = window.location;
    const command = `svc token create --name gpu-1 --scope agent\nSVC_TOKEN=<that token> svc agent --url ${origin}`;
    return html`<div class="panel">
      <svc-notice icon="nodes" headline="No node has connected yet" command=${command}
        >Create a token for the host here, then start the agent on the host.</svc-notice
      >
    </div>`;
  }

  #renderError() {
    return html`<svc-notice
      tone="danger"
      headline="The nodes could not be loaded"
      action="Try again"
      @svc-action=${() => this.#nodes.reload()}
      >${this.#nodes.error?.message}</svc-notice
    >`;
  }
}
