import { consume } from '@lit/context';
import { toCommandLine } from '@svc/client';
import { isTerminal } from '@svc/contract/protocol';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import {
  describeFailure,
  describeOutcome,
  describeWait,
  describePlace,
  describeResources,
  endOfWait,
  explainNoStart,
  describeSelector,
  isNoAttempt,
  toCount,
} from '../components/job-words.js';
import { toPendingHelp } from '../components/pending-help.js';
import {
  fact,
  optionFacts,
  noAttempt,
  renderCommands,
  renderPending,
  renderRuns,
  snapshotFact,
} from '../components/record-parts.js';
import '../components/svc-attempts-table.js';
import '../components/svc-code.js';
import '../components/svc-env.js';
import '../components/svc-failure.js';
import '../components/svc-job-actions.js';
import '../components/svc-run-preview.js';
import '../components/svc-status.js';
import '../components/svc-time.js';
import '../components/svc-timeline.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { listEvents } from '../data/events.js';
import { findQueued, toTimeline, toTimelineAttempt } from '../data/job-timeline.js';
import { getJob, listJobAttempts, listJobRuns, type Job, type JobAttempt } from '../data/jobs.js';
import { listNodes } from '../data/nodes.js';
import type { Run } from '../data/runs.js';
import type { SvcLogView } from '../log/svc-log-view.js';
import '../log/svc-log-view.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { nameTab } from '../tab-title.js';
import { jobPageStyles } from './job-page-styles.js';

const LIVE_POLL_MS = 3000;
const SLOW_POLL_MS = 30_000;

/** One job: what it is, why it is in its state, what its run measures, and its log, live. */
@customElement('svc-job-page')
export class SvcJobPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() jobId = '';
  /** `attempt`: the one that is shown, left out for the newest. `line`: of its log, counted from 1. */
  @property({ attribute: false }) query = new URLSearchParams();
  @query('svc-log-view') private readonly log!: SvcLogView | null;
  /** Where the log opens: the line that the explanation of a failure cites, and of which attempt. */
  @state() private opening: { readonly attempt: number; readonly seq: number | null } | null = null;
  #isLineDue = true;

  readonly #job = new Loader(this, {
    load: (signal) => this.#loadJob(signal),
    everyMs: LIVE_POLL_MS,
    isRecord: true,
  });
  readonly #names = new RecordNames(this, () => this.api);
  readonly #runs = new Loader(this, {
    load: (signal) => listJobRuns(this.api, this.jobId, signal),
    everyMs: SLOW_POLL_MS,
    isRecord: true,
  });
  readonly #attempts = new Loader(this, {
    load: (signal) => listJobAttempts(this.api, this.jobId, signal),
    everyMs: SLOW_POLL_MS,
    isRecord: true,
  });
  readonly #nodes = new Loader(this, {
    load: (signal) => listNodes(this.api, signal),
    everyMs: SLOW_POLL_MS,
  });
  /** When and why each attempt was queued. */
  readonly #queued = new Loader(this, {
    load: (signal) => listEvents(this.api, { job_id: this.jobId, type: 'JOB_QUEUED', limit: 1000 }, signal),
  });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, jobPageStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some((event) => event.job_id === this.#job.value?.id)) this.#refresh();
    });
    this.addEventListener('svc-job-changed', () => this.#refresh());
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has('query')) this.#isLineDue = true;
  }

  override updated(): void {
    // What stands below the first explanation of a failure appears with it: see the styles.
    if (this.log && (this.opening || !this.renderRoot.querySelector('svc-failure')))
      this.toggleAttribute('whole', true);
    if (!this.#isLineDue || this.log === null) return;
    const isLogWanted = this.query.get('view') === 'log';
    // What loads above it moves the log, a line comes into view again by itself.
    this.#isLineDue = isLogWanted && !this.hasAttribute('whole');
    // In the next frame, when what stands above has its height.
    if (this.#line !== null || isLogWanted)
      requestAnimationFrame(() => this.log?.scrollIntoView({ block: 'end' }));
  }

  get #isComplete(): boolean {
    return [this.#runs, this.#attempts, this.#nodes, this.#queued].every(
      ({ value, error }) => value ?? error,
    );
  }

  override render() {
    const job = this.#job.value;
    if (!job || this.#job.isDeleted || !this.#isComplete)
      return renderPending(this.#job, 'job', paths.jobs());
    return html`
      ${this.#renderHead(job)}
      <svc-stale .error=${this.#job.error} @svc-retry=${() => this.#refresh()}></svc-stale>
      ${this.#renderOutcome(job)} ${this.#renderFailure(job)} ${this.#renderOverview(job)}
      ${this.#renderTimeline(job)} ${this.#renderAttempts(job)} ${this.#renderLog(job)}
    `;
  }

  #renderHead(job: Job) {
    return html`<a class="crumb" href=${paths.jobs()}>${icon('left', 14)}Jobs</a>
      <header class="page-head">
        <h1>${job.name}</h1>
        <svc-status value=${job.status}></svc-status>
        <span class="id"
          ><code>${job.id}</code><svc-copy label="Copy the job's id" .text=${job.id}></svc-copy
        ></span>
        <div class="actions">
          <a class="button" href=${this.#logAddress} @click=${this.#showLogPane}>Log</a>
          <svc-job-actions .job=${job}></svc-job-actions>
        </div>
      </header>`;
  }

  /** Where the explanation of this attempt stands, it says it. */
  #renderOutcome(job: Job) {
    const outcome = describeOutcome(job);
    const isExplained = job.status !== 'QUEUED' && (this.#attempt ?? job.attempt) === job.attempt;
    if (outcome === null || isExplained) return nothing;
    const tone = job.status === 'FAILED' ? 'danger' : job.status === 'LOST' ? 'warning' : 'neutral';
    const title = job.status === 'QUEUED' ? 'Waiting' : job.status === 'LOST' ? 'Lost' : 'Failed';
    return html`<div class="outcome ${tone}" role="status">
      ${icon(job.status === 'QUEUED' ? 'clock' : 'warning')}
      <div>
        <p><b>${title}:</b> ${job.status === 'QUEUED' ? describeWait(outcome) : outcome}</p>
        ${job.status === 'QUEUED' ? this.#renderHelp(job) : nothing}
      </div>
    </div>`;
  }

  /** What would let it start. */
  #renderHelp(job: Job) {
    if (!this.#nodes.value) return nothing;
    const helps = toPendingHelp(job, this.#nodes.value, window.location.origin, this.who?.can_write ?? false);
    return html`<ul class="helps">
      ${helps.map(
        ({ text, command, resubmit }) =>
          html`<li>
            <span
              >${text}
              ${
                resubmit && this.who?.can_write
                  ? html`<a href=${paths.newJob({ from: job.id })}>Resubmit with changes</a>`
                  : nothing
              }</span
            >
            ${command === undefined ? nothing : html`<svc-code .text=${command}></svc-code>`}
          </li>`,
      )}
    </ul>`;
  }

  /** Of the attempt that is shown. */
  #renderFailure(job: Job) {
    const shown = this.#attempt ?? job.attempt;
    const record = this.#recordOf(job, shown);
    if (record?.status !== 'FAILED' && record?.status !== 'LOST') return nothing;
    return html`<svc-failure
      .jobId=${job.id}
      .attempt=${shown}
      .message=${describeFailure(record) ?? ''}
      @svc-explained=${({ detail: seq }: CustomEvent<number | null>) => (this.opening = { attempt: shown, seq })}
      @svc-line=${() => this.#showLine()}
    ></svc-failure>`;
  }

  #renderTimeline(job: Job) {
    const shown = this.#attempt ?? job.attempt;
    const queued = this.#queued.value ?? [];
    const attempt = toTimelineAttempt(job, shown, this.#attempts.value ?? [], queued);
    if (attempt === null) return nothing;
    return html`<section class="panel timeline" aria-labelledby="timeline">
      <h2 id="timeline" class="label">${job.attempt > 1 ? `Timeline of attempt ${shown}` : 'Timeline'}</h2>
      <svc-timeline
        .steps=${toTimeline(attempt)}
        .details=${this.#describeSteps(job, shown, findQueued(shown, queued)?.message ?? '')}
      ></svc-timeline>
    </section>`;
  }

  #describeSteps(job: Job, shown: number, why: string): Record<string, string> {
    const record = this.#recordOf(job, shown);
    const node = record?.node_id ? this.#nameOf(record.node_id) : '';
    const gpus =
      shown === job.attempt && job.gpu_indices.length > 0 ? `, GPU ${job.gpu_indices.join(', ')}` : '';
    const place = node === '' ? '' : `${node}${gpus}`;
    return {
      Queued: why,
      Assigned: place,
      ...(record?.started_at !== null && { Running: place }),
    };
  }

  #recordOf(job: Job, attempt: number): Job | JobAttempt | undefined {
    return attempt === job.attempt ? job : this.#attempts.value?.find((other) => other.attempt === attempt);
  }

  #renderOverview(job: Job) {
    const run = this.#currentRun(job);
    const hasCurve = run !== undefined && (run.step !== null || run.status === 'RUNNING');
    return html`<div class="overview ${hasCurve ? 'with-run' : ''}">
      <section class="panel about" aria-label="About the job">
        <dl class="facts">${this.#renderFacts(job)}</dl>
        <div class="command">
          <h2 class="label">Command</h2>
          <svc-code .text=${toCommandLine(job.command)}></svc-code>
        </div>
        ${Object.keys(job.env).length === 0 ? nothing : html`<svc-env .env=${job.env}></svc-env>`}
        ${renderCommands(job, this.who?.can_write ?? false)}
        ${hasCurve ? nothing : renderRuns('Runs', this.#furtherRuns())}
      </section>
      ${hasCurve ? this.#renderRun(run) : nothing}
    </div>`;
  }

  #renderFacts(job: Job) {
    return html`
      ${fact('Resources', describeResources(job))} ${fact('Node', this.#describeNode(job))}
      ${fact('Attempt', job.attempt > job.max_attempts ? String(job.attempt) : `${job.attempt} of ${job.max_attempts}`)}
      ${fact('Priority', String(job.priority))}
      ${fact('Created', html`<svc-time .from=${job.created_at}></svc-time>`)}
      ${fact('Queue time', html`<svc-time elapsed .from=${job.queued_at} .to=${job.started_at ?? endOfWait(job)}></svc-time>`)}
      ${fact('Duration', html`<svc-time elapsed .from=${job.started_at} .to=${job.finished_at}></svc-time>`)}
      ${job.exit_code === null ? nothing : fact('Exit code', String(job.exit_code))}
      ${fact('Project', describePlace(job, this.#names.of), job.experiment ? 'wide' : '')}
      ${fact('Runner', job.image ? `${job.runner} · ${job.image}` : job.runner)}
      ${job.working_dir ? fact('Working directory', html`<code>${job.working_dir}</code>`, 'wide') : nothing}
      ${snapshotFact(job)} ${job.type === 'TRAIN' ? nothing : fact('Type', job.type)}
      ${Object.keys(job.node_selector).length === 0 ? nothing : fact('Node selector', describeSelector(job))}
      ${optionFacts(job)}
    `;
  }

  #renderRun(run: Run) {
    const others = this.#furtherRuns().filter((other) => other.id !== run.id);
    return html`<section class="panel run" aria-label="Run">
      <svc-run-preview .run=${run}></svc-run-preview>${renderRuns('Other runs', others)}
    </section>`;
  }

  /** Of a job with one attempt the page says it all without. */
  #renderAttempts(job: Job) {
    const attempts = this.#attempts.value ?? [];
    if (attempts.length < 2) return nothing;
    return html`<section class="panel attempts" aria-labelledby="attempts">
      <div class="panel-head"><h2 id="attempts">Attempts</h2></div>
      <svc-attempts-table
        .attempts=${attempts}
        .shown=${this.#attempt ?? job.attempt}
        .nodeNames=${new Map((this.#nodes.value ?? []).map(({ id, name }) => [id, name]))}
        @svc-attempt=${(event: CustomEvent<number>) => this.#showLog(job, event.detail)}
      ></svc-attempts-table>
    </section>`;
  }

  #renderLog(job: Job) {
    if (isNoAttempt(job, this.query.get('attempt'))) return noAttempt(job);
    const attempt = this.#attempt ?? job.attempt;
    const isNewest = attempt === job.attempt;
    const isWaiting = job.status === 'QUEUED' && isNewest;
    const isLive = isNewest && !isTerminal(job.status) && job.status !== 'QUEUED';
    const notStarted = explainNoStart(this.#recordOf(job, attempt));
    const isShort = isWaiting || notStarted !== null;
    return html`<section class="panel log ${isShort ? 'short' : ''}" aria-label="Log" tabindex="-1">
      <svc-log-view
        .jobId=${job.id}
        .attempt=${attempt}
        .attempts=${job.attempt}
        .line=${this.#line}
        .opening=${!isLive && this.opening?.attempt === attempt ? this.opening.seq : null}
        ?live=${isLive}
        .waiting=${isWaiting}
        .notStarted=${notStarted}
        @svc-attempt=${(event: CustomEvent<number>) => this.#showLog(job, event.detail)}
      ></svc-log-view>
    </section>`;
  }

  /** As the log that was shown before, from its newest line. */
  #showLog(job: Job, attempt: number): void {
    const shown = Object.fromEntries(new URLSearchParams(window.location.search));
    const query = { attempt: attempt === job.attempt ? null : String(attempt), line: null };
    navigate(paths.job(this.jobId, { ...shown, ...query }));
  }

  /** null: the newest. */
  get #attempt(): number | null {
    return toCount(this.query.get('attempt'));
  }

  /** As the log numbers its lines: from 0. */
  get #line(): number | null {
    const line = toCount(this.query.get('line'));
    return line === null ? null : line - 1;
  }

  /** The page as it is, at its log. */
  get #logAddress(): string {
    return paths.job(this.jobId, { ...Object.fromEntries(this.query), view: 'log' });
  }

  readonly #showLogPane = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.log?.parentElement?.focus({ preventScroll: true });
    this.log?.parentElement?.scrollIntoView({ block: 'end' });
  };

  /** A link to a line that is in the address already changes no address. */
  #showLine(): void {
    this.#isLineDue = true;
    this.log?.showLine();
    this.requestUpdate();
  }

  /** Those that the table of attempts does not link to. */
  #furtherRuns(): Run[] {
    const attempts = this.#attempts.value ?? [];
    const linked = new Set(attempts.length < 2 ? [] : attempts.map(({ run_id }) => run_id));
    return (this.#runs.value ?? []).filter(({ id }) => !linked.has(id));
  }

  #currentRun(job: Job) {
    return this.#runs.value?.find((run) => run.id === job.run_id) ?? this.#runs.value?.[0];
  }

  #describeNode({ node_id: id, gpu_indices: gpus }: Job) {
    if (id === null) return '–';
    return html`<a href=${paths.node(id)}>${this.#nameOf(id)}</a
      >${gpus.length > 0 ? ` · GPU ${gpus.join(', ')}` : nothing}`;
  }

  #nameOf(nodeId: string): string {
    return this.#nodes.value?.find((node) => node.id === nodeId)?.name ?? nodeId;
  }

  async #loadJob(signal: AbortSignal): Promise<Job> {
    const before = this.#job.value;
    const job = await getJob(this.api, this.jobId, signal);
    nameTab(job.name);
    this.#job.interval = isTerminal(job.status) ? SLOW_POLL_MS : LIVE_POLL_MS;
    if (before && (before.status !== job.status || before.run_id !== job.run_id)) {
      this.#runs.refresh();
      this.#attempts.refresh();
      this.#queued.refresh();
    }
    return job;
  }

  #refresh(): void {
    this.#job.refresh();
    this.#runs.refresh();
    this.#attempts.refresh();
    this.#queued.refresh();
  }
}
