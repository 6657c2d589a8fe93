import { consume } from '@lit/context';
import { LitElement, css, html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { agentCommands, renderAgentSteps } from '../components/agent-steps.js';
import '../components/svc-filters.js';
import '../components/svc-node-card.js';
import '../components/svc-nodes-table.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { listNodes, sortByName, type NodeRecord } from '../data/nodes.js';
import { getStatus } from '../data/service.js';
import { plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';

const VIEWS = [
  { value: null, label: 'Cards' },
  { value: 'list', label: 'List' },
];

/** The machines, their slots, and who holds them, each in its place by name whatever its state. */
@customElement('svc-nodes-page')
export class SvcNodesPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  /** `view=list`: a line for each; `q`: a part of the name. */
  @property({ attribute: false }) query = new URLSearchParams();
  readonly #nodes = new Loader(this, { load: (signal) => listNodes(this.api, signal), everyMs: 5000 });
  readonly #status = new Loader(this, {
    load: (signal) => getStatus(this.api, signal),
    everyMs: 10_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    css`
      .list {
        overflow: hidden;
      }
      svc-notice a {
        text-decoration: underline;
      }
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
    const shown = sortByName(
      nodes.filter(({ name }) => name.toLowerCase().includes(this.#search.toLowerCase())),
    );
    return html`${this.#renderFilters()}
    ${shown.length === 0 ? this.#renderNoMatch() : this.#isList ? this.#renderList(shown) : this.#renderCards(shown)}`;
  }

  get #search(): string {
    return this.query.get('q') ?? '';
  }

  get #isList(): boolean {
    return this.query.get('view') === 'list';
  }

  #renderFilters() {
    return html`<svc-filters
      label="How the nodes are shown"
      .choices=${VIEWS}
      .value=${this.#isList ? 'list' : null}
      @svc-filter=${({ detail: view }: CustomEvent<string | null>) => this.#go({ view })}
      ><input
        class="input"
        type="search"
        placeholder="Search nodes"
        aria-label="Search nodes by name"
        .value=${live(this.#search)}
        @input=${({ target }: InputEvent) => this.#go({ q: (target as HTMLInputElement).value }, { replace: true })}
    /></svc-filters>`;
  }

  #go(changes: Record<string, string | null>, options: { replace?: boolean } = {}): void {
    const { view, q } = { view: this.query.get('view'), q: this.#search, ...changes };
    navigate(paths.nodes({ view, q }), options);
  }

  #renderNoMatch() {
    return html`<div class="panel">
      <svc-notice icon="nodes" headline="No node has this in its name"
        ><a href=${paths.nodes({ view: this.query.get('view') })}>Show all nodes</a></svc-notice
      >
    </div>`;
  }

  #renderList(nodes: readonly NodeRecord[]) {
    return html`<div class="panel list">
      <svc-nodes-table .nodes=${nodes} @svc-node-changed=${() => this.#nodes.reload()}></svc-nodes-table>
    </div>`;
  }

  #renderCards(nodes: readonly NodeRecord[]) {
    const jobs = new Map(this.#status.value?.running.map((job) => [job.id, job]));
    return html`<div class="grid">
      ${repeat(
        nodes,
        (node) => node.id,
        (node) =>
          html`<svc-node-card
            .node=${node}
            .jobs=${jobs}
            @svc-node-changed=${() => this.#nodes.reload()}
          ></svc-node-card>`,
      )}
    </div>`;
  }

  #renderEmpty() {
    return html`<div class="panel">
      <svc-notice icon="nodes" headline="No node has connected yet" .command=${agentCommands()}
        >${renderAgentSteps(this.who?.can_write ?? false)}</svc-notice
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
