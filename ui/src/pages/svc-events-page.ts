import { consume } from '@lit/context';
import type { EventRecord } from '@svc/contract';
import { SEVERITIES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import '../components/svc-events-list.js';
import '../components/svc-filters.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { statusLabel } from '../components/svc-status.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { filterOf, isWanted, type EventFilter, type Severity } from '../data/event-list.js';
import { readEvents } from '../data/lists.js';
import { listNodes } from '../data/nodes.js';
import { shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, pageStyles } from '../styles/shared.js';

const CHOICES = [
  { value: null, label: 'All' },
  ...SEVERITIES.map((value) => ({ value, label: statusLabel(value) })),
];
/** From here on the reader is at the top. */
const TOP_PX = 80;

/** What happened, newest first, live. New events wait behind a button while the reader is further down. */
@customElement('svc-events-page')
export class SvcEventsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #events = new ListController<EventRecord>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => readEvents(this.api, this.#filter, last, signal),
    everyMs: 30_000,
    isHolding: () => window.scrollY >= TOP_PX,
  });
  readonly #nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: 60_000,
  });

  static override styles = [
    baseStyles,
    pageStyles,
    css`
      :host {
        max-width: 76rem;
      }
      .scope {
        display: inline-flex;
        align-items: center;
        gap: var(--space-1);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) =>
      this.#events.add(events.filter((event) => isWanted(event, this.#filter))),
    );
  }

  get #filter(): EventFilter {
    return filterOf(this.query);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('scroll', this.#onScroll, { passive: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('scroll', this.#onScroll);
  }

  override render() {
    return html`
      <header class="page-head"><h1>Events</h1></header>
      <svc-filters
        label="Filter by severity"
        .choices=${CHOICES}
        .value=${this.#filter.severity ?? null}
        @svc-filter=${({ detail }: CustomEvent<Severity | null>) =>
          navigate(paths.events({ ...this.#filter, severity: detail }), { replace: true })}
        >${this.#renderScope()}</svc-filters
      >
      <svc-list
        noun="event"
        .view=${this.#events.view}
        .renderItems=${(events: readonly EventRecord[]) =>
          html`<svc-events-list .events=${events} .nodes=${this.#nodes.value ?? []}></svc-events-list>`}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  #renderScope() {
    const { job_id, run_id, node_id, severity = null } = this.#filter;
    const id = job_id ?? run_id ?? node_id;
    if (!id) return nothing;
    const kind = job_id ? 'job' : run_id ? 'run' : 'node';
    return html`<span class="scope">
      for ${kind} <code title=${id}>${shortId(id)}</code>
      <a href=${paths.events({ severity })}>Show all</a>
    </span>`;
  }

  #renderEmpty() {
    const isFiltered = Object.values(this.#filter).some(Boolean);
    if (isFiltered) {
      return html`<svc-notice icon="events" headline="No events match the filter"
        ><a href=${paths.events()}>Show all events</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="events"
      headline="No events yet"
      command="svc submit --follow -- python3 train.py"
      >An event appears here when a job is queued, a run starts or ends, or something goes wrong.</svc-notice
    >`;
  }

  readonly #onScroll = (): void => {
    if (window.scrollY < TOP_PX) this.#events.showWaiting();
  };
}
