import { consume } from '@lit/context';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { apiContext } from '../app/contexts.js';
import { navigate, paths } from '../app/paths.js';
import '../components/svc-events-list.js';
import { icon } from '../components/icons.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import {
  filterOf,
  isWanted,
  withNewest,
  type EventFilter,
  type EventRecord,
  type Severity,
} from '../data/event-list.js';
import { listEvents } from '../data/events.js';
import { listNodes } from '../data/nodes.js';
import { plural, shortId } from '../format.js';
import { filterStyles } from '../styles/filter-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';

const SEVERITIES: readonly { severity: Severity; label: string }[] = [
  { severity: 'info', label: 'Info' },
  { severity: 'warning', label: 'Warning' },
  { severity: 'critical', label: 'Critical' },
];

/** What happened, newest first, live. New events wait behind a button while the reader is further down. */
@customElement('svc-events-page')
export class SvcEventsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private events: readonly EventRecord[] = [];
  @state() private waiting: readonly EventRecord[] = [];

  private readonly list = new Loader(this, { load: (signal) => this.loadEvents(signal), everyMs: 30_000 });
  private readonly nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: 60_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    filterStyles,
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
      .fresh {
        position: sticky;
        z-index: 2;
        top: var(--space-3);
        display: flex;
        justify-content: center;
        height: 0;
      }
      .fresh .button {
        border-radius: var(--radius-full);
        border-color: transparent;
        box-shadow: var(--shadow-overlay);
        background: var(--color-overlay);
      }
      @media (max-width: 56rem) {
        .fresh {
          top: 4rem;
        }
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => this.onEvents(events));
  }

  private get filter(): EventFilter {
    return filterOf(this.query);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('scroll', this.onScroll, { passive: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('scroll', this.onScroll);
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get('query') === undefined) return;
    this.events = this.waiting = [];
    this.list.reload({ clear: true });
  }

  override render() {
    return html`
      <header class="page-head"><h1>Events</h1></header>
      <div class="filters" role="group" aria-label="Filter by severity">
        ${this.renderFilter(null, 'All')}
        ${SEVERITIES.map(({ severity, label }) => this.renderFilter(severity, label))} ${this.renderScope()}
      </div>
      <svc-stale
        .error=${this.list.value ? this.list.error : null}
        @svc-retry=${() => this.list.reload()}
      ></svc-stale>
      ${this.waiting.length === 0 ? nothing : this.renderFresh()}
      <section class="panel" aria-busy=${this.list.value ? 'false' : 'true'}>${this.renderList()}</section>
    `;
  }

  private renderFilter(severity: Severity | null, label: string) {
    const isOn = severity === (this.filter.severity ?? null);
    return html`<button
      aria-pressed=${isOn ? 'true' : 'false'}
      @click=${() => navigate(paths.events({ ...this.filter, severity }), { replace: true })}
    >
      ${label}
    </button>`;
  }

  private renderScope() {
    const { job_id, run_id, node_id, severity = null } = this.filter;
    const id = job_id ?? run_id ?? node_id;
    if (!id) return nothing;
    const kind = job_id ? 'job' : run_id ? 'run' : 'node';
    return html`<span class="scope">
      of ${kind} <code title=${id}>${shortId(id)}</code>
      <a href=${paths.events({ severity })}>Show all</a>
    </span>`;
  }

  private renderFresh() {
    return html`<div class="fresh">
      <button class="button" @click=${this.showWaiting}>
        ${icon('up', 14)}${plural(this.waiting.length, 'new event')}
      </button>
    </div>`;
  }

  private renderList() {
    if (!this.list.value)
      return this.list.error ? this.renderError() : html`<svc-skeleton rows="8"></svc-skeleton>`;
    if (this.events.length === 0) return this.renderEmpty();
    return html`<svc-events-list .events=${this.events} .nodes=${this.nodes.value ?? []}></svc-events-list>`;
  }

  private renderEmpty() {
    const isFiltered = Object.values(this.filter).some(Boolean);
    if (isFiltered) {
      return html`<svc-notice icon="events" headline="No such event"
        ><a href=${paths.events()}>Show all events</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="events"
      headline="Nothing has happened yet"
      command="svc submit --follow -- python train.py"
      >Events appear here when a job is queued, a run starts or ends, or something goes wrong.</svc-notice
    >`;
  }

  private renderError() {
    return html`<svc-notice
      tone="danger"
      headline="The events could not be loaded"
      action="Try again"
      @svc-action=${() => this.list.reload()}
      >${this.list.error?.message}</svc-notice
    >`;
  }

  private async loadEvents(signal: AbortSignal): Promise<true> {
    const events = await listEvents(this.api, { ...this.filter }, signal);
    this.add(events);
    return true;
  }

  private onEvents(events: EventRecord[]): void {
    this.add(events.filter((event) => isWanted(event, this.filter)));
  }

  private add(events: readonly EventRecord[]): void {
    const known = new Set(this.events.map((event) => event.id));
    const fresh = events.filter((event) => !known.has(event.id));
    if (fresh.length === 0) return;
    this.waiting = withNewest(this.waiting, fresh);
    if (window.scrollY < 80 || this.events.length === 0) this.showWaiting();
  }

  private readonly showWaiting = (): void => {
    const isBelow = window.scrollY >= 80;
    this.events = withNewest(this.events, this.waiting);
    this.waiting = [];
    if (isBelow) window.scrollTo({ top: 0 });
  };

  private readonly onScroll = (): void => {
    if (this.waiting.length > 0 && window.scrollY < 80) this.showWaiting();
  };
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-events-page': SvcEventsPage;
  }
}
