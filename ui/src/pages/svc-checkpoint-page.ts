import { consume } from '@lit/context';
import type { BestCheckpoint, Checkpoint, Evaluation } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import { fact, renderPending } from '../components/record-parts.js';
import '../components/svc-best-checkpoint.js';
import '../components/svc-copy.js';
import '../components/svc-evaluate-form.js';
import type { SvcEvaluateForm } from '../components/svc-evaluate-form.js';
import '../components/svc-evaluations-table.js';
import '../components/svc-notice.js';
import '../components/svc-flat-record.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-time.js';
import { toast } from '../components/svc-toasts.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import { WaitingJobs } from '../controllers/waiting-jobs.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import {
  getCheckpoint,
  metricsAt,
  recommendCheckpoint,
  type MetricAtCheckpoint,
} from '../data/checkpoints.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { draftLike, NO_EVALUATION, type EvaluationDraft } from '../data/evaluation-draft.js';
import { listEvaluationsOf } from '../data/evaluations.js';
import { getJob } from '../data/jobs.js';
import { findNodeOfRun } from '../data/node-of-run.js';
import { getRun, type Run } from '../data/runs.js';
import { formatBytes, formatCount, formatValue, shortId, splitPath } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { nameTab } from '../tab-title.js';

const LIVE_POLL_MS = 3000;
const SLOW_POLL_MS = 30_000;

interface Origin {
  readonly run: Run;
  /** The name of the node where the files are; null: unknown. */
  readonly node: string | null;
  readonly metrics: readonly MetricAtCheckpoint[];
}

/** One checkpoint: where it is, what was measured at it, its evaluations, and a way to evaluate it. */
@customElement('svc-checkpoint-page')
export class SvcCheckpointPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() checkpointId = '';
  @query('svc-evaluate-form') private readonly form!: SvcEvaluateForm;

  readonly #checkpoint = new Loader(this, {
    load: (signal) => this.#load(signal),
    everyMs: SLOW_POLL_MS,
    isRecord: true,
  });
  readonly #evaluations = new Loader(this, {
    load: (signal) => this.#loadEvaluations(signal),
    everyMs: LIVE_POLL_MS,
    isRecord: true,
  });
  readonly #names = new RecordNames(this, () => this.api);
  readonly #waiting = new WaitingJobs(this, () => this.api);
  /** null until the checkpoint is there; what follows is loaded then. */
  #runId: string | null = null;
  readonly #origin = new Loader<Origin | null>(this, { load: (signal) => this.#loadOrigin(signal) });
  readonly #best = new Loader<BestCheckpoint | null>(this, {
    load: async (signal) =>
      this.#runId === null ? null : recommendCheckpoint(this.api, { run_id: this.#runId }, signal),
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    dataTableStyles,
    css`
      .panel {
        margin-bottom: var(--space-4);
      }
      .facts {
        padding: var(--space-4);
      }
      .facts .wide {
        grid-column: 1 / -1;
      }
      .name {
        display: -webkit-box;
        overflow: hidden;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 2;
      }
      .path {
        display: flex;
        align-items: center;
        gap: var(--space-1);
      }
      .grid {
        display: grid;
        grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
        gap: 0 var(--space-4);
        align-items: start;
      }
      .gone {
        display: flex;
        gap: var(--space-2);
        margin-bottom: var(--space-4);
        padding: var(--space-2) var(--space-4);
        border-radius: var(--radius-md);
        background: var(--color-warning-soft);
        color: var(--color-warning);
        font-size: var(--text-sm);
      }
      .gone .icon {
        margin-top: 0.2em;
      }
      .panel-head .link {
        margin-left: auto;
        font-size: var(--text-sm);
      }
      .scroll {
        max-height: 22rem;
      }
      th,
      td {
        padding: 0.3125rem var(--space-4);
      }
      tbody th {
        overflow-wrap: anywhere;
      }
      .none {
        padding: var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      @media (max-width: 64rem) {
        .grid {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const { run_id: runId } = this.#checkpoint.value ?? {};
      const jobs = new Set(this.#evaluations.value?.map(({ job_id: jobId }) => jobId));
      const isOurs = events.some(
        (event) => event.run_id === runId || (event.job_id && jobs.has(event.job_id)),
      );
      if (isOurs) this.#refresh();
    });
  }

  override willUpdate(): void {
    const runId = this.#checkpoint.value?.run_id ?? null;
    if (runId === this.#runId) return;
    this.#runId = runId;
    this.#origin.reload();
    this.#best.reload();
  }

  override render() {
    const checkpoint = this.#checkpoint.value;
    if (!checkpoint || this.#checkpoint.isDeleted)
      return renderPending(this.#checkpoint, 'checkpoint', paths.checkpoints());
    const { evaluations: _evaluations, ...metadata } = checkpoint.metadata;
    const hasMetadata = Object.keys(metadata).length > 0;
    // The best one fills its panel above the metrics: drawn later, it would move them.
    const isRanked = Boolean(this.#best.value ?? this.#best.error);
    return html`
      ${this.#renderHead(checkpoint)}
      <svc-stale
        .error=${this.#checkpoint.error ?? this.#evaluations.error}
        @svc-retry=${() => this.#refresh()}
      ></svc-stale>
      ${this.#renderGone(checkpoint)}
      <section class="panel" aria-label="Facts">${this.#renderFacts(checkpoint)}</section>
      <div class="grid">
        <div>
          <section class="panel">${this.#renderEvaluations()}</section>
          ${hasMetadata ? html`<section class="panel"><svc-flat-record heading="Metadata" .value=${metadata}></svc-flat-record></section>` : nothing}
        </div>
        <div>
          <section class="panel">
            <div class="panel-head">
              <h2>Best of its run</h2>
              <a class="link" href=${paths.checkpoints({ run_id: checkpoint.run_id })}>All of its run</a>
            </div>
            <svc-best-checkpoint
              .best=${this.#best.value ?? null}
              .error=${this.#best.error}
            ></svc-best-checkpoint>
          </section>
          ${isRanked ? html`<section class="panel">${this.#renderMetrics(checkpoint)}</section>` : nothing}
        </div>
      </div>
      <svc-evaluate-form
        checkpointId=${checkpoint.id}
        name=${splitPath(checkpoint.path)[1]}
        @svc-evaluation=${({ detail }: CustomEvent<Evaluation>) => this.#onEvaluation(detail)}
      ></svc-evaluate-form>
    `;
  }

  #renderHead({ id, path, deleted_at: deletedAt }: Checkpoint) {
    return html`<a class="crumb" href=${paths.checkpoints()}>${icon('left', 14)}Checkpoints</a>
      <header class="page-head">
        <h1 class="name" title=${splitPath(path)[1]}>${splitPath(path)[1]}</h1>
        <span class="id"
          ><code>${id}</code><svc-copy label="Copy the checkpoint's id" .text=${id}></svc-copy
        ></span>
        ${
          this.who?.can_write
            ? html`<div class="actions">
                <button
                  class="button primary"
                  ?disabled=${deletedAt !== null}
                  @click=${() => void this.#open()}
                >
                  Evaluate from here
                </button>
              </div>`
            : nothing
        }
      </header>`;
  }

  #renderGone({ deleted_at: deletedAt }: Checkpoint) {
    if (deletedAt === null) return nothing;
    return html`<p class="gone" role="status">
      ${icon('warning', 14)}<span
        >Its files are gone: they were found deleted or rotated away <svc-time .from=${deletedAt}></svc-time>.
        It can no longer be evaluated; what was measured stays.</span
      >
    </p>`;
  }

  #renderFacts(checkpoint: Checkpoint) {
    const { path, step, epoch, size, source, created_at: createdAt, run_id: runId } = checkpoint;
    const { run, node = null } = this.#origin.value ?? {};
    return html`<dl class="facts">
      ${fact('Path', html`<span class="path"><code class="name" title=${path}>${path}</code><svc-copy label="Copy the path" .text=${path}></svc-copy></span>`, 'wide')}
      ${fact('Step', step === null ? '–' : formatCount(step))}
      ${epoch === null ? nothing : fact('Epoch', formatValue(epoch))}
      ${fact('Size', size === null ? 'unknown' : formatBytes(size))}
      ${fact('Run', html`<a href=${paths.run(runId)}>${run?.name ?? shortId(runId)}</a>`)}
      ${run?.job_id ? fact('Job', html`<a href=${paths.job(run.job_id)}>${this.#names.of(run.job_id)}</a>`) : nothing}
      ${node === null ? nothing : fact('Node', node)}
      ${fact('Saved', html`<svc-time .from=${createdAt}></svc-time>`)} ${fact('Found by', SOURCES[source])}
    </dl>`;
  }

  #renderEvaluations() {
    const evaluations = this.#evaluations.value;
    return html`<div class="panel-head"><h2>Evaluations</h2></div>
      ${
        !evaluations
          ? html`<svc-skeleton rows="2"></svc-skeleton>`
          : evaluations.length === 0
            ? html`<p class="none">
                It has not been evaluated.
                ${this.who?.can_write ? 'Evaluate it from here, or by' : 'A token that may write evaluates it by'}
                <code>svc evaluate ${shortId(this.checkpointId)} python3 eval.py</code>.
              </p>`
            : html`<svc-evaluations-table
                unlinked
                .evaluations=${evaluations}
                .jobs=${this.#waiting.jobs}
              ></svc-evaluations-table>`
      }`;
  }

  #renderMetrics({ step }: Checkpoint) {
    const metrics = this.#origin.value?.metrics ?? [];
    return html`<div class="panel-head"><h2>Training metrics at it</h2></div>
      ${
        metrics.length === 0
          ? html`<p class="none">${this.#describeNoMetrics(step)}</p>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="Training metrics at it">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Metric</th>
                    <th scope="col" class="number">Value</th>
                    <th scope="col" class="number">Step</th>
                  </tr>
                </thead>
                <tbody>
                  ${metrics.map(
                    ({ name, value, step: at }) =>
                      html`<tr>
                        <th scope="row">${name}</th>
                        <td class="number">${formatValue(value)}</td>
                        <td class="number quiet">${formatCount(at)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }`;
  }

  #describeNoMetrics(step: number | null): string {
    if (step === null) return 'It was saved without a step, so no value of the training belongs to it.';
    if (this.#origin.error) return `They could not be loaded. ${this.#origin.error.message}`;
    return this.#origin.value ? 'The training had logged nothing until this step.' : 'Loading…';
  }

  /** As the newest evaluation of the checkpoint was made, where there is one. */
  async #open(): Promise<void> {
    try {
      this.form.open(await this.#draft());
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
  }

  async #draft(): Promise<EvaluationDraft> {
    const [newest] = this.#evaluations.value ?? [];
    if (!newest) return NO_EVALUATION;
    const { suite, dataset, dataset_version: version } = newest;
    const labels = { suite: suite ?? '', dataset: dataset ?? '', dataset_version: version ?? '' };
    const job = await getJob(this.api, newest.job_id).catch(nullIfGone);
    return job ? draftLike(job, labels) : { ...NO_EVALUATION, ...labels };
  }

  #onEvaluation({ job_id: jobId }: Evaluation): void {
    toast(`The evaluation is queued as job ${shortId(jobId)}.`);
    this.#evaluations.reload();
  }

  #refresh(): void {
    this.#checkpoint.refresh();
    this.#evaluations.refresh();
    this.#best.refresh();
  }

  async #load(signal: AbortSignal): Promise<Checkpoint> {
    const checkpoint = await getCheckpoint(this.api, this.checkpointId, signal);
    if (signal.aborted) return checkpoint;
    nameTab(splitPath(checkpoint.path)[1]);
    return checkpoint;
  }

  async #loadEvaluations(signal: AbortSignal): Promise<Evaluation[]> {
    const evaluations = await listEvaluationsOf(this.api, this.checkpointId, signal);
    const isWaiting = await this.#waiting.read(evaluations, signal);
    this.#evaluations.interval = isWaiting ? LIVE_POLL_MS : SLOW_POLL_MS;
    return evaluations;
  }

  async #loadOrigin(signal: AbortSignal): Promise<Origin | null> {
    const checkpoint = this.#checkpoint.value;
    if (!checkpoint || this.#checkpoint.isDeleted) return null;
    const [run, metrics] = await Promise.all([
      getRun(this.api, checkpoint.run_id, signal),
      metricsAt(this.api, checkpoint, signal),
    ]);
    return { run, metrics, node: await findNodeOfRun(this.api, run, signal) };
  }
}

const SOURCES: Readonly<Record<Checkpoint['source'], string>> = {
  sdk: 'the training',
  watcher: 'the watcher of its folder',
  api: 'the API',
};

function nullIfGone(error: unknown): null {
  if (toApiError(error).status === 404) return null;
  throw error;
}
