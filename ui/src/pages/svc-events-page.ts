import { consume } from '@lit/context';
import type { EventRecord } from '@svc/contract';
import { EVENT_TYPES, SEVERITIES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import '../components/svc-events-list.js';
import '../components/svc-filters.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import '../components/svc-record-search.js';
import type { ChosenRecord } from '../components/svc-record-search.js';
import { statusLabel } from '../components/svc-status.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { readScopeNames } from '../data/event-scope.js';
import { filterOf, isWanted, type EventFilter, type Severity } from '../data/event-list.js';
import { readEvents } from '../data/lists.js';
import { listNodes } from '../data/nodes.js';
import { hasUnknownName } from '../data/record-names.js';
import { shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';

const CHOICES = [
  { value: null, label: 'All' },
  ...SEVERITIES.map((value) => ({ value, label: statusLabel(value) })),
];
/** From here on the reader is at the top. */
const TOP_PX = 80;

/** What happened, newest first, live. New events wait behind a button while the reader reads: further down, or with something chosen. */
@customElement('svc-events-page')
export class SvcEventsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  #scope = '';

  readonly #events = new ListController<EventRecord>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => readEvents(this.api, { ...this.#filter, names: true }, last, signal),
    everyMs: 30_000,
    isHolding: () => window.scrollY >= TOP_PX || this.#isReading,
  });
  readonly #nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: 60_000,
  });
  readonly #names = new Loader(this, {
    load: (signal) => readScopeNames(this.api, this.#filter, signal),
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    css`
      :host {
        max-width: 76rem;
      }
      .places {
        display: flex;
        gap: var(--space-2);
        margin-left: auto;
      }
      .places .select {
        max-width: 13rem;
      }
      svc-record-search {
        flex: 0 1 18rem;
        margin-left: auto;
      }
      .scope {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2);
        margin-bottom: var(--space-3);
      }
      .scope > span {
        display: inline-flex;
        align-items: center;
        gap: var(--space-1);
        max-width: 100%;
        padding-left: var(--space-3);
        border-radius: var(--radius-full);
        background: var(--color-accent-soft);
        color: var(--color-accent);
        font-size: var(--text-sm);
        --control-height: 1.75rem;
      }
      .scope .button {
        color: inherit;
      }
      @media (max-width: 56rem) {
        svc-record-search {
          flex: 1 0 100%;
        }
        .places {
          flex: 1 1 100%;
          min-width: 0;
          margin: 0;
        }
        .places .select {
          flex: 1 1 0;
          max-width: none;
        }
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const wanted = events.filter((event) => isWanted(event, this.#filter));
      this.#events.add(wanted);
      // The list comes with the names.
      if (wanted.some((event) => hasUnknownName(this.api, event))) this.#events.refresh();
    });
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

  override willUpdate(): void {
    const { job_id: jobId, run_id: runId } = this.#filter;
    const scope = `${jobId ?? ''} ${runId ?? ''}`;
    if (this.#scope !== scope && this.hasUpdated) this.#names.reload({ clear: true });
    this.#scope = scope;
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Events</h1>
        <svc-record-search
          label="Events of the job, run or node with this name or id"
          placeholder="Find a job, run or node"
          @svc-record=${({ detail }: CustomEvent<ChosenRecord>) => this.#onRecord(detail)}
        ></svc-record-search>
      </header>
      <svc-filters
        label="Filter by severity"
        .choices=${CHOICES}
        .value=${this.query.get('severity')}
        @svc-filter=${({ detail }: CustomEvent<Severity | null>) => this.#go({ severity: detail })}
      >
        <div class="places">
          ${this.#renderSelect('All types', 'type', this.#types)}
          ${this.#renderSelect('All nodes', 'node_id', this.#nodes.value ?? [])}
        </div>
      </svc-filters>
      ${this.#renderScope()}
      <svc-list
        noun="event"
        .view=${this.#events.view}
        .renderItems=${(events: readonly EventRecord[]) =>
          html`<svc-events-list .events=${events}></svc-events-list>`}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  /** Those that the service has, and those that are in sight: detectors of plugins have types of their own. */
  get #types(): { id: string; name: string }[] {
    const seen = this.#events.view.items.map(({ type }) => type);
    return [...new Set<string>([...EVENT_TYPES, ...seen])].sort().map((type) => ({ id: type, name: type }));
  }

  /** One that is in the address is a choice, also before its name is known. */
  #renderSelect(all: string, key: 'type' | 'node_id', known: readonly { id: string; name: string }[]) {
    const chosen = this.#filter[key] || null;
    const isKnown = chosen === null || known.some(({ id }) => id === chosen);
    const choices = isKnown
      ? known
      : [...known, { id: chosen, name: key === 'type' ? chosen : shortId(chosen) }];
    return html`<select
      class="select"
      aria-label=${all.replace('All ', '')}
      @change=${(event: Event) => this.#go({ [key]: (event.target as HTMLSelectElement).value || null })}
    >
      <option value="" ?selected=${chosen === null}>${all}</option>
      ${choices.map(({ id, name }) => html`<option value=${id} ?selected=${id === chosen}>${name}</option>`)}
    </select>`;
  }

  #renderScope() {
    const { job_id: jobId, run_id: runId } = this.#filter;
    if (!jobId && !runId) return nothing;
    const names = this.#names.value;
    return html`<div class="scope">
      ${jobId ? this.#renderOf('job', 'job_id', jobId, names?.job, paths.job(jobId)) : nothing}
      ${runId ? this.#renderOf('run', 'run_id', runId, names?.run, paths.run(runId)) : nothing}
    </div>`;
  }

  #renderOf(kind: string, key: keyof EventFilter, id: string, name: string | null | undefined, path: string) {
    return html`<span
      >of ${kind}&nbsp;<a class="truncate" href=${path} title=${id}>${name ?? shortId(id)}</a>
      <button
        class="button plain icon"
        aria-label="Events of every ${kind}"
        title="Events of every ${kind}"
        @click=${() => this.#go({ [key]: null })}
      >
        ${icon('cross', 12)}
      </button>
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

  /** The focus is in the list, or some of its text is chosen. */
  get #isReading(): boolean {
    const list = this.renderRoot.querySelector('svc-list');
    if (list?.matches(':focus-within')) return true;
    const selection = window.getSelection();
    return selection !== null && !selection.isCollapsed;
  }

  #go(changes: Partial<EventFilter>): void {
    navigate(paths.events({ ...this.#filter, ...changes }));
  }

  #onRecord({ kind, id }: ChosenRecord): void {
    if (kind === 'node') return this.#go({ node_id: id });
    this.#go({ job_id: null, run_id: null, [`${kind}_id`]: id });
  }

  readonly #onScroll = (): void => {
    if (window.scrollY < TOP_PX) this.#events.showWaiting();
  };
}
