import { consume } from '@lit/context';
import type { BestCheckpoint, Checkpoint } from '@svc/contract';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-best-checkpoint.js';
import '../components/svc-checkpoint-comparison.js';
import '../components/svc-checkpoint-row.js';
import type { Column } from '../components/svc-list.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { CheckpointValues } from '../controllers/checkpoint-values.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import type { Api } from '../data/api.js';
import { recommendCheckpoint } from '../data/checkpoints.js';
import { MAX_COMPARED } from '../data/comparison.js';
import { apiContext } from '../data/contexts.js';
import { readCheckpoints } from '../data/lists.js';
import { listMetricDefinitions } from '../data/metric-definitions.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tabStyles } from '../styles/tab-styles.js';
import { renderCheckpointTabs, scopeStyles } from './checkpoint-tabs.js';

type Listed = Checkpoint & { is_best?: boolean };

const toColumns = (metric: string | null): readonly Column[] => [
  { title: 'Compare', isHidden: true },
  { title: 'Checkpoint' },
  { title: 'Run' },
  { title: metric ?? 'Value', isNumber: true },
  { title: 'Step', isNumber: true },
  { title: 'Size', isNumber: true },
  { title: 'Saved', isNumber: true },
];

/** Checkpoints of all runs or of one, newest first, with their values of one metric; those that are chosen are compared above them. */
@customElement('svc-checkpoints-page')
export class SvcCheckpointsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #names = new RecordNames(this, () => this.api);
  readonly #checkpoints = new ListController<Listed>(this, {
    question: () => this.#runId ?? '',
    read: (last, signal) => readCheckpoints(this.api, this.#runId, last, signal),
    everyMs: 15_000,
  });
  readonly #values = new CheckpointValues(this, () => this.api);
  readonly #definitions = new Loader(this, {
    load: (signal) => listMetricDefinitions(this.api, { run_id: this.#runId }, signal),
    everyMs: 60_000,
  });
  readonly #best = new Loader<BestCheckpoint | null>(this, {
    load: async (signal) =>
      this.#runId === null ? null : recommendCheckpoint(this.api, this.#runId, signal),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    tabStyles,
    scopeStyles,
    css`
      :host {
        --columns: 1.25rem minmax(6rem, 1.5fr) minmax(6rem, 1.8fr) 6.5rem 4rem 4.5rem 4.5rem;
      }
      .scope .select {
        max-width: 14rem;
      }
      .best,
      svc-checkpoint-comparison {
        display: block;
        margin-bottom: var(--space-4);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (!events.some(({ type }) => type === 'CHECKPOINT_CREATED' || type === 'EVALUATION_FINISHED')) return;
      this.#checkpoints.refresh();
      this.#best.refresh();
      this.#values.refresh();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('query')) return;
    const before = changed.get('query');
    const isOtherRun = (before?.get('run_id') || null) !== this.#runId;
    if (isOtherRun || (before?.get('metric') || null) !== this.#metric) this.#values.reset(this.#metric);
    if (!this.hasUpdated || !isOtherRun) return;
    this.#best.reload({ clear: true });
    this.#definitions.reload({ clear: true });
  }

  override updated(): void {
    const { items, phase } = this.#checkpoints.view;
    if (phase === 'ready') this.#values.want(items.map(({ id }) => id));
  }

  override render() {
    return html`
      <header class="page-head"><h1>Checkpoints</h1></header>
      ${renderCheckpointTabs('checkpoints', this.#runId)} ${this.#renderScope()} ${this.#renderComparison()}
      ${this.#renderValues()}
      <svc-list
        noun="checkpoint"
        .columns=${toColumns(this.#values.metric)}
        .view=${this.#checkpoints.view}
        .renderItems=${(checkpoints: readonly Listed[]) => this.#renderRows(checkpoints)}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #runId(): string | null {
    return this.query.get('run_id') || null;
  }

  /** null: the primary one. */
  get #metric(): string | null {
    return this.query.get('metric') || null;
  }

  get #chosen(): string[] {
    return [...new Set(this.query.get('compare')?.split(',').filter(Boolean) ?? [])];
  }

  #renderScope() {
    const runId = this.#runId;
    if (runId === null) return nothing;
    return html`<p class="scope">
        <span>of the run <a href=${paths.run(runId)}>${this.#names.of(runId)}</a></span>
        <a href=${paths.checkpoints()}>Show those of all runs</a>
      </p>
      <div class="panel best">
        <svc-best-checkpoint
          .best=${this.#best.value ?? null}
          .error=${this.#best.error}
        ></svc-best-checkpoint>
      </div>`;
  }

  /** Which metric the values are of, and what the boxes are for. */
  #renderValues() {
    if (this.#checkpoints.view.items.length === 0) return nothing;
    const names = (this.#definitions.value ?? []).map(({ name }) => name);
    const listed = this.#metric === null || names.includes(this.#metric) ? names : [this.#metric, ...names];
    return html`<div class="scope">
      <select
        class="select"
        aria-label="Metric of the values"
        @change=${(event: Event) => this.#go({ metric: (event.target as HTMLSelectElement).value })}
      >
        <option value="" ?selected=${this.#metric === null}>Primary metric</option>
        ${listed.map((name) => html`<option value=${name} ?selected=${name === this.#metric}>${name}</option>`)}
      </select>
      <span>${this.#describeValues()}</span>
    </div>`;
  }

  #describeValues(): string {
    const { error } = this.#values;
    if (error?.isFinal && this.#metric === null)
      return 'No primary metric gives values for all of these: choose a metric to see which is best.';
    if (error) return `The values could not be read: ${error.message}`;
    return 'Tick two or more checkpoints to compare them.';
  }

  #renderComparison() {
    if (this.#chosen.length === 0) return nothing;
    return html`<svc-checkpoint-comparison
      .ids=${this.#chosen}
      .metric=${this.query.get('metric')}
      .runNameOf=${(runId: string) => this.#names.of(runId)}
      @svc-metric=${({ detail }: CustomEvent<string | null>) => this.#go({ metric: detail })}
      @svc-choose=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
      @svc-close=${() => this.#go({ compare: null, metric: null })}
    ></svc-checkpoint-comparison>`;
  }

  #renderRows(checkpoints: readonly Listed[]) {
    const chosen = this.#chosen;
    return html`${repeat(
      checkpoints,
      ({ id }) => id,
      (checkpoint) =>
        html`<svc-checkpoint-row
          .checkpoint=${checkpoint}
          .value=${this.#values.of(checkpoint.id)}
          .metric=${this.#values.metric}
          ?leading=${this.#values.isBest(checkpoint.id)}
          runName=${this.#names.of(checkpoint.run_id)}
          ?chosen=${chosen.includes(checkpoint.id)}
          ?full=${chosen.length >= MAX_COMPARED}
          @svc-choose=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
        ></svc-checkpoint-row>`,
    )}`;
  }

  #renderEmpty() {
    return html`<svc-notice
      icon="checkpoints"
      headline=${this.#runId === null ? 'No checkpoints yet' : 'This run has no checkpoint yet'}
      command=${'run.checkpoint("out/checkpoint-100", step=100)'}
      >A training registers what it saves by this line. Folders named checkpoint-… in the working directory of
      a job are found by themselves.</svc-notice
    >`;
  }

  #toggle(id: string): void {
    const chosen = this.#chosen;
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
    this.#go({ compare: next.join(',') });
  }

  #go(change: Record<string, string | null>): void {
    const { run_id = null, compare = null, metric = null } = Object.fromEntries(this.query);
    navigate(paths.checkpoints({ run_id, compare, metric, ...change }), { replace: true });
  }
}
