import { consume } from '@lit/context';
import { toCommandLine } from '@svc/client';
import { isTerminal } from '@svc/contract/protocol';
import { LitElement, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import {
  describeOutcome,
  describePlace,
  describeResources,
  explainNoStart,
} from '../components/job-words.js';
import { fact, renderPending, snapshotFact } from '../components/record-parts.js';
import '../components/svc-attempts-table.js';
import '../components/svc-code.js';
import '../components/svc-copy.js';
import '../components/svc-env.js';
import '../components/svc-job-actions.js';
import '../components/svc-run-preview.js';
import '../components/svc-stale.js';
import '../components/svc-status.js';
import '../components/svc-time.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { getJob, listJobAttempts, listJobRuns, type Job } from '../data/jobs.js';
import { listNodes } from '../data/nodes.js';
import type { Run } from '../data/runs.js';

import '../log/svc-log-view.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { jobPageStyles } from './job-page-styles.js';

const LIVE_POLL_MS = 3000;
const SLOW_POLL_MS = 30_000;

/** One job: what it is, why it is in its state, what its run measures, and its log, live. */
@customElement('svc-job-page')
export class SvcJobPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() jobId = '';
  /** The attempt whose log is shown; null is the newest. */
  @state() private attempt: number | null = null;

  readonly #job = new Loader(this, { load: (signal) => this.#loadJob(signal), everyMs: LIVE_POLL_MS });
  readonly #runs = new Loader(this, {
    load: (signal) => listJobRuns(this.api, this.jobId, signal),
    everyMs: SLOW_POLL_MS,
  });
  readonly #attempts = new Loader(this, {
    load: (signal) => listJobAttempts(this.api, this.jobId, signal),
    everyMs: SLOW_POLL_MS,
  });
  readonly #nodes = new Loader(this, { load: (signal) => listNodes(this.api, signal) });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, jobPageStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some((event) => event.job_id === this.#job.value?.id)) this.#refresh();
    });
    this.addEventListener('svc-job-changed', () => this.#refresh());
  }

  override render() {
    const job = this.#job.value;
    if (!job || !(this.#runs.value ?? this.#runs.error)) return renderPending(this.#job, 'job', paths.jobs());
    return html`
      ${this.#renderHead(job)}
      <svc-stale .error=${this.#job.error} @svc-retry=${() => this.#refresh()}></svc-stale>
      ${this.#renderOutcome(job)} ${this.#renderOverview(job)} ${this.#renderAttempts(job)}
      ${this.#renderLog(job)}
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
        <div class="actions"><svc-job-actions .job=${job}></svc-job-actions></div>
      </header>`;
  }

  #renderOutcome(job: Job) {
    const outcome = describeOutcome(job);
    if (outcome === null) return nothing;
    const tone = job.status === 'FAILED' ? 'danger' : job.status === 'LOST' ? 'warning' : 'neutral';
    const title = job.status === 'QUEUED' ? 'Waiting' : job.status === 'LOST' ? 'Lost' : 'Failed';
    return html`<div class="outcome ${tone}" role="status">
      ${icon(job.status === 'QUEUED' ? 'clock' : 'warning')}
      <p><b>${title}:</b> ${outcome}</p>
    </div>`;
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
        ${hasCurve ? nothing : this.#renderRuns('Runs', this.#furtherRuns())}
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
      ${fact('Project', describePlace(job), job.experiment ? 'wide' : '')}
      ${fact('Runner', job.image ? `${job.runner} · ${job.image}` : job.runner)}
      ${job.working_dir ? fact('Working directory', html`<code>${job.working_dir}</code>`, 'wide') : nothing}
      ${snapshotFact(job)} ${job.type === 'TRAIN' ? nothing : fact('Type', job.type)}
      ${Object.keys(job.node_selector).length === 0 ? nothing : fact('Node selector', describeSelector(job))}
    `;
  }

  #renderRun(run: Run) {
    const others = this.#furtherRuns().filter((other) => other.id !== run.id);
    return html`<section class="panel run" aria-label="Run">
      <svc-run-preview .run=${run}></svc-run-preview>${this.#renderRuns('Other runs', others)}
    </section>`;
  }

  #renderRuns(label: string, runs: readonly Run[]) {
    if (runs.length === 0) return nothing;
    const links = runs.map(
      (run) => html`<li><a href=${paths.run(run.id)}>${run.name}</a>, attempt ${run.attempt ?? 1}</li>`,
    );
    return html`<div class="runs">
      <h2 class="label">${label}</h2>
      <ul>
        ${links}
      </ul>
    </div>`;
  }

  /** Of a job with one attempt the page says it all without. */
  #renderAttempts(job: Job) {
    const attempts = this.#attempts.value ?? [];
    if (attempts.length < 2) return nothing;
    return html`<section class="panel attempts" aria-labelledby="attempts">
      <div class="panel-head"><h2 id="attempts">Attempts</h2></div>
      <svc-attempts-table
        .attempts=${attempts}
        .shown=${this.attempt ?? job.attempt}
        .nodeNames=${new Map((this.#nodes.value ?? []).map(({ id, name }) => [id, name]))}
        @svc-attempt=${(event: CustomEvent<number>) => this.#showLog(job, event.detail)}
      ></svc-attempts-table>
    </section>`;
  }

  #renderLog(job: Job) {
    const attempt = this.attempt ?? job.attempt;
    const isNewest = attempt === job.attempt;
    const record = isNewest ? job : this.#attempts.value?.find((other) => other.attempt === attempt);
    const isWaiting = job.status === 'QUEUED' && isNewest;
    const isLive = isNewest && !isTerminal(job.status) && job.status !== 'QUEUED';
    return html`<section class="panel log ${isWaiting ? 'waiting' : ''}" aria-label="Log">
      <svc-log-view
        .jobId=${job.id}
        .attempt=${attempt}
        .attempts=${job.attempt}
        ?live=${isLive}
        .waiting=${isWaiting}
        .notStarted=${explainNoStart(record)}
        @svc-attempt=${(event: CustomEvent<number>) => this.#showLog(job, event.detail)}
      ></svc-log-view>
    </section>`;
  }

  #showLog(job: Job, attempt: number): void {
    this.attempt = attempt === job.attempt ? null : attempt;
  }

  /** Those that the table of attempts does not link to. */
  #furtherRuns(): Run[] {
    const attempts = this.#attempts.value ?? [];
    const linked = new Set(attempts.length < 2 ? [] : attempts.map(({ run_id }) => run_id));
    return (this.#runs.value ?? []).filter(({ id }) => !linked.has(id));
  }

  #currentRun(job: Job) {
    const runs = this.#runs.value ?? [];
    return runs.find((run) => run.id === job.run_id) ?? runs[0];
  }

  #describeNode({ node_id: id, gpu_indices: gpus }: Job) {
    if (id === null) return '–';
    const name = this.#nodes.value?.find((node) => node.id === id)?.name ?? id;
    return html`<a href=${paths.nodes()}>${name}</a
      >${gpus.length > 0 ? ` · GPU ${gpus.join(', ')}` : nothing}`;
  }

  async #loadJob(signal: AbortSignal): Promise<Job> {
    const before = this.#job.value;
    const job = await getJob(this.api, this.jobId, signal);
    document.title = `${job.name} · svc`;
    this.#job.interval = isTerminal(job.status) ? SLOW_POLL_MS : LIVE_POLL_MS;
    if (before && (before.status !== job.status || before.run_id !== job.run_id)) {
      this.#runs.refresh();
      this.#attempts.refresh();
    }
    return job;
  }

  #refresh(): void {
    this.#job.refresh();
    this.#runs.refresh();
    this.#attempts.refresh();
  }
}

function describeSelector({ node_selector: selector }: Job): string {
  return Object.entries(selector)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

/** A job that never started stopped waiting when it ended. */
function endOfWait(job: Job): number | null {
  return job.status === 'QUEUED' ? null : job.finished_at;
}
