import { consume } from '@lit/context';
import type { Job } from '@svc/contract';
import { JOB_STATUSES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { icon } from '../components/icons.js';
import { describePlace } from '../components/job-words.js';
import '../components/svc-filters.js';
import '../components/svc-job-row.js';
import type { Column } from '../components/svc-list.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { statusLabel } from '../components/svc-status.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import { TypedSearch } from '../controllers/typed-search.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import type { EventRecord } from '../data/event-list.js';
import { getJob, isJobWanted, jobFilterOf, type JobFilter, type JobStatus } from '../data/jobs.js';
import { readJobs } from '../data/lists.js';
import { listNodes } from '../data/nodes.js';
import { listProjects } from '../data/projects.js';
import { getStatus } from '../data/service.js';
import { plural, shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';

const FIRST: readonly JobStatus[] = ['RUNNING', 'DISPATCHING', 'QUEUED'];
const STATUSES = [...new Set([...FIRST, ...JOB_STATUSES])];
/** Shown even when no job is in it. */
const STEADY = new Set<JobStatus>(['RUNNING', 'QUEUED', 'SUCCEEDED', 'FAILED']);
const SAFETY_POLL_MS = 10_000;
const SLOW_POLL_MS = 30_000;
const COLUMNS: readonly Column[] = [
  { title: 'Status' },
  { title: 'Job' },
  { title: 'Project' },
  { title: 'Resources' },
  { title: 'Node' },
  { title: 'Created', isNumber: true },
  { title: 'Duration', isNumber: true },
  { title: 'Actions', isHidden: true },
];

/** All jobs, newest first, live. */
@customElement('svc-jobs-page')
export class SvcJobsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #search = new TypedSearch(this, {
    text: () => this.#filter.q,
    onRest: (q) => this.#go({ q }, { replace: true }),
  });
  readonly #jobs = new ListController<Job>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => readJobs(this.api, this.#filter, last, signal),
    readItem: (id) => this.#readJob(id),
    everyMs: SAFETY_POLL_MS,
  });
  readonly #names = new RecordNames(this, () => this.api);
  readonly #status = new Loader(this, {
    load: (signal) => getStatus(this.api, signal),
    everyMs: SAFETY_POLL_MS,
  });
  readonly #nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: SLOW_POLL_MS,
  });
  readonly #projects = new Loader(this, {
    load: (signal) => listProjects(this.api, signal),
    everyMs: SLOW_POLL_MS,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    css`
      :host {
        --columns: 6.75rem minmax(9rem, 3fr) minmax(6rem, 1.6fr) minmax(4rem, 0.8fr) minmax(7rem, 2fr) 4.5rem
          4.5rem 0;
        /* The gap before the last column, which has no width. */
        --row-end: 0px;
      }
      @media (hover: none) {
        :host {
          --columns: 6.75rem minmax(9rem, 3fr) minmax(6rem, 1.6fr) minmax(4rem, 0.8fr) minmax(7rem, 2fr)
            4.5rem 4.5rem 5.5rem;
          --row-end: var(--space-4);
        }
      }
      .page-head .actions {
        flex: 1;
        justify-content: flex-end;
      }
      svc-notice a {
        text-decoration: underline;
      }
      .search {
        flex: 0 1 16rem;
      }
      .places {
        display: flex;
        gap: var(--space-2);
        margin-left: auto;
      }
      .places .select {
        max-width: 13rem;
      }
      @media (max-width: 56rem) {
        .page-head .actions {
          flex: 1 0 100%;
        }
        .search {
          flex: 1;
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
    new LiveEvents(this, (events) => this.#onEvents(events));
    this.addEventListener('svc-job-changed', () => this.#refresh(new Set()));
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Jobs</h1>
        <p class="summary">${this.#summary}</p>
        <div class="actions">
          <input
            class="input search"
            type="search"
            aria-label="Find jobs by name or id"
            placeholder="Name or id"
            spellcheck="false"
            maxlength="200"
            .value=${live(this.#search.text)}
            @input=${this.#search.onInput}
          />
          ${this.who?.can_write ? html`<a class="button primary" href=${paths.newJob()}>${icon('plus', 14)}Submit a job</a>` : nothing}
        </div>
      </header>
      <svc-filters
        label="Filter by status"
        .choices=${this.#choices}
        .value=${this.query.get('status')}
        @svc-filter=${({ detail }: CustomEvent<JobStatus | null>) => this.#go({ status: detail })}
      >
        <div class="places">
          ${this.#renderSelect('All projects', this.#projects.value ?? [], 'project_id')}
          ${this.#renderSelect('All nodes', this.#nodes.value ?? [], 'node_id')}
        </div>
      </svc-filters>
      <svc-list
        noun="job"
        endless
        .columns=${COLUMNS}
        .view=${this.#jobs.view}
        .renderItems=${(jobs: readonly Job[]) => this.#renderRows(jobs)}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #filter(): JobFilter {
    return jobFilterOf(this.query);
  }

  /** One that is in the address is a choice, also before its name is known. */
  #renderSelect(all: string, places: readonly { id: string; name: string }[], key: 'project_id' | 'node_id') {
    const chosen = this.#filter[key];
    const isKnown = chosen === null || places.some(({ id }) => id === chosen);
    const choices = isKnown ? places : [...places, { id: chosen, name: shortId(chosen) }];
    return html`<select
      class="select"
      aria-label=${all.replace('All ', '')}
      @change=${(event: Event) => this.#go({ [key]: (event.target as HTMLSelectElement).value || null })}
    >
      <option value="" ?selected=${chosen === null}>${all}</option>
      ${choices.map(({ id, name }) => html`<option value=${id} ?selected=${id === chosen}>${name}</option>`)}
    </select>`;
  }

  get #summary(): string {
    const status = this.#status.value;
    if (!status) return '';
    const { online, total } = status.nodes;
    return total === 0 ? 'No node has connected yet' : `${online} of ${plural(total, 'node')} online`;
  }

  get #choices() {
    const { status: chosen, ...others } = this.#filter;
    // The server counts all jobs: beside another filter the numbers would be of other jobs than the list.
    const counts = Object.values(others).some(Boolean) ? undefined : this.#status.value?.jobs;
    const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
    const shown = STATUSES.filter(
      (status) => STEADY.has(status) || status === chosen || (counts?.[status] ?? 0) > 0,
    );
    return [
      { value: null, label: 'All', count: total },
      ...shown.map((value) => ({ value, label: statusLabel(value), count: counts?.[value] })),
    ];
  }

  #renderRows(jobs: readonly Job[]) {
    return html`${repeat(
      jobs,
      (job) => job.id,
      (job) =>
        html`<svc-job-row
          .job=${job}
          .node=${this.#nameOfNode(job.node_id)}
          .place=${describePlace(job, this.#names.of)}
        ></svc-job-row>`,
    )}`;
  }

  #renderEmpty() {
    const { status, q, ...others } = this.#filter;
    if (q || Object.values(others).some(Boolean)) {
      return html`<svc-notice icon="jobs" headline="No jobs match the filter"
        >${
          q
            ? html`Each word of “${q}” has to occur in the name, or to be at least 6 characters of the
              beginning or end of the id. `
            : nothing
        }<a href=${paths.jobs()}>Show all jobs</a></svc-notice
      >`;
    }
    if (status) {
      return html`<svc-notice icon="jobs" headline="No ${statusLabel(status).toLowerCase()} jobs"
        ><a href=${paths.jobs()}>Show all jobs</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="jobs"
      headline="No jobs yet"
      command="svc submit --follow -- python3 train.py"
      >Submit a training job here or from a terminal. It is queued, gets its GPUs, and appears
      here.</svc-notice
    >`;
  }

  #nameOfNode(nodeId: string | null): string {
    if (nodeId === null) return '';
    return this.#nodes.value?.find((node) => node.id === nodeId)?.name ?? nodeId;
  }

  /** null once the job no longer fits the filter. */
  async #readJob(id: string): Promise<Job | null> {
    const job = await getJob(this.api, id);
    return isJobWanted(job, this.#filter) ? job : null;
  }

  #go(change: Partial<JobFilter>, options: { replace?: boolean } = {}): void {
    navigate(paths.jobs({ ...this.#filter, ...change }), options);
  }

  #onEvents(events: EventRecord[]): void {
    const changed = new Set(events.flatMap((event) => event.job_id ?? []));
    if (changed.size > 0 || events.some((event) => event.node_id)) this.#refresh(changed);
  }

  #refresh(changed: ReadonlySet<string>): void {
    this.#jobs.refreshItems(changed);
    this.#status.refresh();
  }
}
