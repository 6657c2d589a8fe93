import { consume } from '@lit/context';
import type { EventRecord } from '@svc/contract';
import { EVENT_TYPES, SEVERITIES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
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
import { readScopeNames } from '../data/event-scope.js';
import { filterOf, isWanted, type EventFilter, type Severity } from '../data/event-list.js';
import { readEvents } from '../data/lists.js';
import { listNodes } from '../data/nodes.js';
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

/** An id of a job or a run, as it stands in a log or an address. */
const ID = /\b(job|run)_[0-9A-Z]{26}\b/;

/** What happened, newest first, live. New events wait behind a button while the reader reads: further down, or with something chosen. */
@customElement('svc-events-page')
export class SvcEventsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private isWrongId = false;
  #scope = '';

  readonly #events = new ListController<EventRecord>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => readEvents(this.api, this.#filter, last, signal),
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
      .page-head .actions {
        flex: 0 1 18rem;
      }
      .search {
        flex: 1;
      }
      .wrong {
        flex-basis: 100%;
        color: var(--color-danger);
        font-size: var(--text-sm);
        text-align: right;
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
        .page-head .actions {
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
        <div class="actions">${this.#renderSearch()}</div>
        ${this.isWrongId ? html`<p class="wrong" id="wrong" role="alert">Paste the whole id of a job or a run, such as job_ and 26 characters.</p>` : nothing}
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
          html`<svc-events-list .events=${events} .nodes=${this.#nodes.value ?? []}></svc-events-list>`}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  #renderSearch() {
    return html`<input
      class="input search"
      type="search"
      aria-label="Events of the job or run with this id"
      aria-invalid=${this.isWrongId ? 'true' : 'false'}
      aria-describedby=${this.isWrongId ? 'wrong' : nothing}
      placeholder="Job or run id"
      spellcheck="false"
      autocomplete="off"
      maxlength="200"
      @change=${this.#onId}
    />`;
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

  readonly #onId = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const id = ID.exec(input.value)?.[0];
    this.isWrongId = id === undefined && input.value.trim() !== '';
    if (id === undefined) return;
    input.value = '';
    this.#go(id.startsWith('job_') ? { job_id: id, run_id: null } : { run_id: id, job_id: null });
  };

  readonly #onScroll = (): void => {
    if (window.scrollY < TOP_PX) this.#events.showWaiting();
  };
}
