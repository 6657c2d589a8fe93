import { consume } from '@lit/context';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { apiContext } from '../app/contexts.js';
import { navigate, paths } from '../app/paths.js';
import '../components/svc-job-row.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import { statusLabel } from '../components/svc-status.js';
import { toast } from '../components/svc-toasts.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { toApiError, type Api } from '../data/api.js';
import type { EventRecord } from '../data/event-list.js';
import { EMPTY_LIST, withFirstPage, withJob, withNextPage, type JobList } from '../data/job-list.js';
import { getJob, listJobs, type JobStatus } from '../data/jobs.js';
import { listNodes } from '../data/nodes.js';
import { getStatus } from '../data/service.js';
import { formatCount, plural } from '../format.js';
import { filterStyles } from '../styles/filter-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tableStyles } from '../styles/table-styles.js';

const STATUSES: readonly JobStatus[] = [
  'RUNNING',
  'DISPATCHING',
  'QUEUED',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'LOST',
];
/** Shown even when no job is in it. */
const STEADY = new Set<JobStatus>(['RUNNING', 'QUEUED', 'SUCCEEDED', 'FAILED']);
const PAGE_SIZE = 100;
const SAFETY_POLL_MS = 10_000;

/** All jobs, newest first, live. */
@customElement('svc-jobs-page')
export class SvcJobsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private list: JobList = EMPTY_LIST;
  @state() private isLoadingMore = false;

  private readonly jobs = new Loader(this, {
    load: (signal) => this.loadFirstPage(signal),
    everyMs: SAFETY_POLL_MS,
  });
  private readonly status = new Loader(this, {
    load: (signal) => getStatus(this.api, signal),
    everyMs: SAFETY_POLL_MS,
  });
  private readonly nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    tableStyles,
    filterStyles,
    css`
      :host {
        --columns: 6.75rem minmax(9rem, 3fr) minmax(6rem, 1.8fr) 4.5rem minmax(4.5rem, 1.2fr) 3.5rem 5rem 5rem
          3.75rem;
      }
      .summary {
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => this.onEvents(events));
    this.addEventListener('svc-job-changed', () => this.refresh());
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get('query') === undefined) return;
    this.list = EMPTY_LIST;
    this.jobs.reload({ clear: true });
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Jobs</h1>
        <p class="summary">${this.summary}</p>
      </header>
      ${this.renderFilters()}
      <svc-stale
        .error=${this.jobs.value ? this.jobs.error : null}
        @svc-retry=${() => this.refresh()}
      ></svc-stale>
      <section class="panel" aria-busy=${this.jobs.value ? 'false' : 'true'}>${this.renderList()}</section>
    `;
  }

  private get filter(): JobStatus | null {
    const status = this.query.get('status') as JobStatus | null;
    return status && STATUSES.includes(status) ? status : null;
  }

  private get summary(): string {
    const status = this.status.value;
    if (!status) return '';
    const { online, total } = status.nodes;
    return total === 0 ? 'No node has connected yet' : `${online} of ${plural(total, 'node')} online`;
  }

  private renderFilters() {
    const counts = this.status.value?.jobs;
    const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
    const shown = STATUSES.filter(
      (status) => STEADY.has(status) || status === this.filter || (counts?.[status] ?? 0) > 0,
    );
    return html`<div class="filters" role="group" aria-label="Filter by status">
      ${this.renderFilter(null, 'All', total)}
      ${shown.map((status) => this.renderFilter(status, statusLabel(status), counts?.[status]))}
    </div>`;
  }

  private renderFilter(status: JobStatus | null, label: string, count: number | undefined) {
    return html`<button
      aria-pressed=${status === this.filter ? 'true' : 'false'}
      @click=${() => navigate(paths.jobs({ status }), { replace: true })}
    >
      ${label}<span class="count">${count === undefined ? '' : formatCount(count)}</span>
    </button>`;
  }

  private renderList() {
    if (!this.jobs.value)
      return this.jobs.error ? this.renderError() : html`<svc-skeleton rows="8"></svc-skeleton>`;
    if (this.list.items.length === 0) return this.renderEmpty();
    return html`
      <div role="table" aria-label="Jobs">${this.renderRows()}</div>
      ${this.list.nextBefore === null ? nothing : this.renderMore()}
    `;
  }

  private renderRows() {
    return html`
      <div class="head" role="row">
        ${['Status', 'Job', 'Project / experiment', 'Needs', 'Node'].map(
          (title) => html`<span role="columnheader">${title}</span>`,
        )}
        ${['Priority', 'Created', 'Duration'].map(
          (title) => html`<span class="number" role="columnheader">${title}</span>`,
        )}
        <span role="columnheader"><span class="visually-hidden">Actions</span></span>
      </div>
      ${repeat(
        this.list.items,
        (job) => job.id,
        (job) => html`<svc-job-row .job=${job} .node=${this.nameOfNode(job.node_id)}></svc-job-row>`,
      )}
    `;
  }

  private renderMore() {
    return html`<div class="more">
      <button class="button" ?disabled=${this.isLoadingMore} @click=${this.loadMore}>
        ${this.isLoadingMore ? 'Loading…' : 'Show older jobs'}
      </button>
    </div>`;
  }

  private renderEmpty() {
    if (this.filter) {
      return html`<svc-notice icon="jobs" headline="No job is ${statusLabel(this.filter).toLowerCase()}"
        ><a href=${paths.jobs()}>Show all jobs</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="jobs"
      headline="No jobs yet"
      command="svc submit --follow -- python train.py"
      >Submit a training from a terminal. It is queued, gets its GPUs, and shows up here.</svc-notice
    >`;
  }

  private renderError() {
    return html`<svc-notice
      tone="danger"
      headline="The jobs could not be loaded"
      action="Try again"
      @svc-action=${() => this.jobs.reload()}
      >${this.jobs.error?.message}</svc-notice
    >`;
  }

  private nameOfNode(nodeId: string | null): string {
    if (nodeId === null) return '';
    return this.nodes.value?.find((node) => node.id === nodeId)?.name ?? nodeId;
  }

  private async loadFirstPage(signal: AbortSignal): Promise<true> {
    const page = await listJobs(this.api, { status: this.filter, limit: PAGE_SIZE }, signal);
    this.list = withFirstPage(this.list, page);
    return true;
  }

  private readonly loadMore = async (): Promise<void> => {
    this.isLoadingMore = true;
    const { query } = this;
    try {
      const page = await listJobs(this.api, {
        status: this.filter,
        before: this.list.nextBefore,
        limit: PAGE_SIZE,
      });
      if (query === this.query) this.list = withNextPage(this.list, page);
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isLoadingMore = false;
  };

  private refresh(): void {
    this.jobs.refresh();
    this.status.refresh();
  }

  private onEvents(events: EventRecord[]): void {
    const changed = new Set(events.flatMap((event) => event.job_id ?? []));
    if (changed.size === 0 && !events.some((event) => event.node_id)) return;
    this.refresh();
    const older = this.list.items.slice(PAGE_SIZE).filter((job) => changed.has(job.id));
    for (const job of older) void this.refreshOne(job.id);
  }

  private async refreshOne(jobId: string): Promise<void> {
    const job = await getJob(this.api, jobId).catch(() => null);
    if (job) this.list = withJob(this.list, job, this.filter);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-jobs-page': SvcJobsPage;
  }
}
