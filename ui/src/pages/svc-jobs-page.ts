import { consume } from '@lit/context';
import type { Job } from '@svc/contract';
import { JOB_STATUSES } from '@svc/contract/protocol';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-filters.js';
import '../components/svc-job-row.js';
import type { Column } from '../components/svc-list.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { statusLabel } from '../components/svc-status.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import type { EventRecord } from '../data/event-list.js';
import { getJob, type JobStatus } from '../data/jobs.js';
import { readJobs } from '../data/lists.js';
import { listNodes } from '../data/nodes.js';
import { getStatus } from '../data/service.js';
import { plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, pageStyles } from '../styles/shared.js';

const FIRST: readonly JobStatus[] = ['RUNNING', 'DISPATCHING', 'QUEUED'];
const STATUSES = [...new Set([...FIRST, ...JOB_STATUSES])];
/** Shown even when no job is in it. */
const STEADY = new Set<JobStatus>(['RUNNING', 'QUEUED', 'SUCCEEDED', 'FAILED']);
const SAFETY_POLL_MS = 10_000;
const COLUMNS: readonly Column[] = [
  { title: 'Status' },
  { title: 'Job' },
  { title: 'Project' },
  { title: 'Resources' },
  { title: 'Node' },
  { title: 'Priority', isNumber: true },
  { title: 'Created', isNumber: true },
  { title: 'Duration', isNumber: true },
  { title: 'Actions', isHidden: true },
];

/** All jobs, newest first, live. */
@customElement('svc-jobs-page')
export class SvcJobsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #jobs = new ListController<Job>(this, {
    question: () => this.#filter ?? '',
    read: (last, signal) => readJobs(this.api, { status: this.#filter }, last, signal),
    readItem: (id) => this.#readJob(id),
    everyMs: SAFETY_POLL_MS,
  });
  readonly #status = new Loader(this, {
    load: (signal) => getStatus(this.api, signal),
    everyMs: SAFETY_POLL_MS,
  });
  readonly #nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    pageStyles,
    css`
      :host {
        --columns: 6.75rem minmax(9rem, 3fr) minmax(6rem, 1.8fr) 5rem minmax(4.5rem, 1.2fr) 3.5rem 5rem 5rem
          3.75rem;
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
      </header>
      <svc-filters
        label="Filter by status"
        .choices=${this.#choices}
        .value=${this.#filter}
        @svc-filter=${({ detail: status }: CustomEvent<string | null>) =>
          navigate(paths.jobs({ status }), { replace: true })}
      ></svc-filters>
      <svc-list
        noun="job"
        .columns=${COLUMNS}
        .view=${this.#jobs.view}
        .renderItems=${(jobs: readonly Job[]) => this.#renderRows(jobs)}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #filter(): JobStatus | null {
    const status = this.query.get('status') as JobStatus | null;
    return status && STATUSES.includes(status) ? status : null;
  }

  get #summary(): string {
    const status = this.#status.value;
    if (!status) return '';
    const { online, total } = status.nodes;
    return total === 0 ? 'No node has connected yet' : `${online} of ${plural(total, 'node')} online`;
  }

  get #choices() {
    const counts = this.#status.value?.jobs;
    const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
    const shown = STATUSES.filter(
      (status) => STEADY.has(status) || status === this.#filter || (counts?.[status] ?? 0) > 0,
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
      (job) => html`<svc-job-row .job=${job} .node=${this.#nameOfNode(job.node_id)}></svc-job-row>`,
    )}`;
  }

  #renderEmpty() {
    if (this.#filter) {
      return html`<svc-notice icon="jobs" headline="No ${statusLabel(this.#filter).toLowerCase()} jobs"
        ><a href=${paths.jobs()}>Show all jobs</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="jobs"
      headline="No jobs yet"
      command="svc submit --follow -- python3 train.py"
      >Submit a training job from a terminal. It is queued, gets its GPUs, and appears here.</svc-notice
    >`;
  }

  #nameOfNode(nodeId: string | null): string {
    if (nodeId === null) return '';
    return this.#nodes.value?.find((node) => node.id === nodeId)?.name ?? nodeId;
  }

  /** null once the job is no longer of the status that is shown. */
  async #readJob(id: string): Promise<Job | null> {
    const job = await getJob(this.api, id);
    return this.#filter === null || job.status === this.#filter ? job : null;
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
