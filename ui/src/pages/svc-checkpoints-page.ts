import { consume } from '@lit/context';
import type { BestCheckpoint, Checkpoint } from '@svc/contract';
import { fromMetricValue, guessDirection, isDirectionKnown } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-best-checkpoint.js';
import '../components/svc-checkpoint-comparison.js';
import type { CheckpointListChange, MetricChoice } from '../components/svc-checkpoint-filters.js';
import '../components/svc-checkpoint-filters.js';
import '../components/svc-checkpoint-row.js';
import type { Column } from '../components/svc-list.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { CheckpointValues } from '../controllers/checkpoint-values.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import type { Api } from '../data/api.js';
import {
  checkpointQueryOf,
  checkpointViewOf,
  sortedBy,
  type CheckpointListView,
} from '../data/checkpoint-list.js';
import { recommendCheckpoint } from '../data/checkpoints.js';
import { MAX_COMPARED } from '../data/comparison.js';
import { apiContext } from '../data/contexts.js';
import { readCheckpoints, type CheckpointFilter } from '../data/lists.js';
import { listMetricDefinitions, type MetricDefinition } from '../data/metric-definitions.js';
import { listExperiments, listProjects } from '../data/projects.js';
import { formatCount, formatValue, plural, splitPath } from '../format.js';
import { navigate, paths } from '../paths.js';
import { commonStart } from '../run-names.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tabStyles } from '../styles/tab-styles.js';
import { renderCheckpointTabs, scopeStyles } from './checkpoint-tabs.js';

const CHANGES: readonly string[] = ['CHECKPOINT_CREATED', 'EVALUATION_FINISHED'];

const toColumns = (metric: string | null): readonly Column[] => [
  { title: 'Compare', isHidden: true },
  { title: 'Checkpoint' },
  { title: 'Run' },
  { title: metric === null ? 'Value' : `Best ${metric}`, isNumber: true },
  { title: 'Step', isNumber: true },
  { title: 'Size', isNumber: true },
  { title: 'Saved', isNumber: true },
];

/** Checkpoints of all runs or of some, with their values of one metric, and which is the best; those that are chosen are compared above them. */
@customElement('svc-checkpoints-page')
export class SvcCheckpointsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  #parsed: { readonly of: URLSearchParams; readonly view: CheckpointListView } | null = null;
  /** Of which checkpoints by which metric the values and the best one are. */
  #valued = '';

  readonly #names = new RecordNames(this, () => this.api);
  readonly #checkpoints = new ListController<Checkpoint>(this, {
    question: () => this.#question,
    read: (last, signal) => readCheckpoints(this.api, this.#filter, last, signal),
    everyMs: 15_000,
  });
  readonly #values = new CheckpointValues(this, () => this.api);
  readonly #places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
    everyMs: 60_000,
  });
  /** The run of which the definitions are. */
  #definitionsOf: string | null = null;
  readonly #definitions = new Loader<MetricDefinition[] | null>(this, {
    load: async (signal) => {
      const run_id = (this.#definitionsOf = this.#measuredRun);
      return run_id === null ? null : listMetricDefinitions(this.api, { run_id }, signal);
    },
    everyMs: 60_000,
  });
  readonly #best = new Loader<BestCheckpoint | null>(this, {
    load: async (signal) => {
      const [of, metric] = [this.#ranked, this.#metric];
      return of === null || metric === null ? null : recommendCheckpoint(this.api, of, signal, metric);
    },
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
        --columns: 1.25rem minmax(6rem, 1.2fr) minmax(6rem, 2fr) 8rem 4rem 4.5rem 4.5rem;
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
      if (!events.some(({ type }) => CHANGES.includes(type))) return;
      this.#checkpoints.refresh();
      this.#best.refresh();
      this.#values.refresh();
    });
  }

  override willUpdate(): void {
    if (this.#measuredRun !== this.#definitionsOf) this.#definitions.reload();
    const valued = JSON.stringify([this.#question, this.#metric, this.#isRanked]);
    if (valued === this.#valued) return;
    this.#valued = valued;
    this.#values.reset(this.#isRanked ? this.#metric : null);
    if (this.hasUpdated) this.#best.reload({ clear: true });
  }

  override updated(): void {
    const { items, phase } = this.#checkpoints.view;
    if (phase === 'ready') this.#values.want(items.map(({ id }) => id));
  }

  override render() {
    const { view } = this.#checkpoints;
    const [projects, experiments] = this.#places.value ?? [[], []];
    return html`
      <header class="page-head"><h1>Checkpoints</h1></header>
      ${renderCheckpointTabs('checkpoints', this.#view.run_id)} ${this.#renderScope()}
      ${this.#renderComparison()}
      <svc-checkpoint-filters
        .view=${this.#view}
        .projects=${projects}
        .experiments=${experiments}
        .metrics=${this.#metricChoices}
        .primary=${this.#primary}
        @svc-view=${({ detail }: CustomEvent<CheckpointListChange>) => this.#go(detail.changes, detail.isTyped)}
      ></svc-checkpoint-filters>
      <p class="scope" role="status">${view.items.length === 0 ? nothing : this.#describeValues()}</p>
      <svc-list
        noun="checkpoint"
        .columns=${toColumns(this.#metric)}
        .view=${{ ...view, items: this.#sorted(view.items) }}
        .renderItems=${(checkpoints: readonly Checkpoint[]) => this.#renderRows(checkpoints)}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #view(): CheckpointListView {
    if (this.#parsed?.of !== this.query)
      this.#parsed = { of: this.query, view: checkpointViewOf(this.query) };
    return this.#parsed.view;
  }

  get #filter(): CheckpointFilter {
    const { run_id, experiment_id, project_id, q } = this.#view;
    return { run_id, experiment_id, project_id, q };
  }

  /** Of which checkpoints. */
  get #question(): string {
    return JSON.stringify(this.#filter);
  }

  /** What has a best checkpoint that the server can name. */
  get #ranked(): { run_id: string } | { experiment_id: string } | null {
    const { run_id, experiment_id } = this.#view;
    if (run_id !== null) return { run_id };
    return experiment_id === null ? null : { experiment_id };
  }

  /** The run whose metrics are offered: that of the newest checkpoint, with what applies in its experiment and project. */
  get #measuredRun(): string | null {
    return this.#view.run_id ?? this.#checkpoints.view.items[0]?.run_id ?? null;
  }

  get #primary(): string | null {
    return this.#definitions.value?.find(({ is_primary: isPrimary }) => isPrimary)?.name ?? null;
  }

  /** null: nobody has chosen one, and none is primary. */
  get #metric(): string | null {
    return this.#view.metric ?? this.#primary;
  }

  /** What the run logs, and what evaluations of the listed checkpoints have measured. */
  get #metricChoices(): MetricChoice[] {
    const { items } = this.#checkpoints.view;
    const measured = items.flatMap(({ metadata }) =>
      metadata.evaluations.flatMap(({ metrics }) => Object.keys(metrics)),
    );
    const guessed = [...new Set(measured)]
      .sort()
      .map((name) => ({ name, guessed: true, ...guessDirection(name) }));
    const defined = this.#definitions.value ?? [];
    const names = new Set(defined.map(({ name }) => name));
    return [...defined, ...guessed.filter(({ name }) => !names.has(name))].map((metric) => ({
      name: metric.name,
      isRanked: isDirectionKnown(metric),
    }));
  }

  /** False once it is known that nobody knows which values are good. */
  get #isRanked(): boolean {
    return this.#metricChoices.find(({ name }) => name === this.#metric)?.isRanked ?? true;
  }

  #renderScope() {
    const { run_id: runId } = this.#view;
    if (this.#ranked === null) return nothing;
    const hasBest = this.#metric !== null && this.#isRanked;
    return html`${
      runId === null
        ? nothing
        : html`<p class="scope">
            <span>of the run <a href=${paths.run(runId)}>${this.#names.of(runId)}</a></span>
            <a href=${paths.checkpoints()}>Show those of all runs</a>
          </p>`
    }
    ${
      hasBest
        ? html`<div class="panel best">
            <svc-best-checkpoint
              of=${runId === null ? 'experiment' : 'run'}
              runName=${this.#best.value ? this.#names.of(this.#best.value.run_id) : ''}
              .best=${this.#best.value ?? null}
              .error=${this.#best.error}
            ></svc-best-checkpoint>
          </div>`
        : nothing
    }`;
  }

  /** What the values are, or what to do to see them, and how far the order goes. */
  #describeValues() {
    const { error } = this.#values;
    if (this.#definitions.error) return `The metrics could not be read: ${this.#definitions.error.message}`;
    if (this.#metric === null)
      return this.#definitions.value
        ? 'No metric is primary here: choose one to see which checkpoint is best.'
        : '';
    if (!this.#isRanked)
      return html`Nobody has said whether low or high values of ${this.#metric} are good. Choose another
        metric, or set its direction in the <a href=${paths.settings()}>settings</a>.`;
    if (error) return `The values could not be read: ${error.message}`;
    return html`${this.#renderBestListed()} ${this.#describeOrder()} Tick two or more checkpoints to compare
    them.`;
  }

  /** Where no run or experiment is chosen, whose best checkpoint the server could name. */
  #renderBestListed() {
    if (this.#ranked !== null) return nothing;
    const tied = this.#checkpoints.view.items.filter(({ id }) => this.#values.isBest(id));
    const [best] = tied;
    if (!best) return nothing;
    const [, name] = splitPath(best.path);
    const value = formatValue(fromMetricValue(this.#values.of(best.id)!.best!));
    return html`<span class="listed">
      Best of those listed: <a href=${paths.checkpoint(best.id)}>${name}</a> of
      <bdi>${this.#names.of(best.run_id)}</bdi>, with the ${this.#extreme} ${this.#metric}, ${value}.
      ${tied.length > 1 ? html`${plural(tied.length, 'checkpoint')} have this value.` : nothing}
    </span>`;
  }

  #describeOrder(): string {
    const { items, hasMore } = this.#checkpoints.view;
    if (this.#view.sort === null || !hasMore) return '';
    return `The newest ${formatCount(items.length)} are sorted; older ones can be added at the end.`;
  }

  get #extreme(): string {
    return this.#values.direction === 'minimize' ? 'lowest' : 'highest';
  }

  #renderComparison() {
    const { compare } = this.#view;
    if (compare.length === 0) return nothing;
    return html`<svc-checkpoint-comparison
      .ids=${compare}
      .metric=${this.#isRanked ? this.#metric : null}
      .runNameOf=${(runId: string) => this.#names.of(runId)}
      @svc-choose=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
      @svc-close=${() => this.#go({ compare: [] })}
    ></svc-checkpoint-comparison>`;
  }

  #sorted(items: readonly Checkpoint[]): readonly Checkpoint[] {
    const { sort } = this.#view;
    if (sort === null) return items;
    return sortedBy(items, ({ id, step }) => (sort === 'value' ? this.#values.rankOf(id) : -(step ?? NaN)));
  }

  #renderRows(checkpoints: readonly Checkpoint[]) {
    const { compare } = this.#view;
    const runIds = [...new Set(checkpoints.map(({ run_id }) => run_id))];
    const startChars = commonStart(runIds.map((id) => this.#names.of(id))).length;
    return html`${repeat(
      checkpoints,
      ({ id }) => id,
      (checkpoint) =>
        html`<svc-checkpoint-row
          .checkpoint=${checkpoint}
          .value=${this.#values.of(checkpoint.id)}
          .metric=${this.#metric}
          .best=${this.#whyBest(checkpoint.id)}
          runName=${this.#names.of(checkpoint.run_id)}
          .startChars=${startChars}
          ?chosen=${compare.includes(checkpoint.id)}
          ?full=${compare.length >= MAX_COMPARED}
          @svc-choose=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
        ></svc-checkpoint-row>`,
    )}`;
  }

  /** Of a run or an experiment the server says which it is; of others, the best value of those that are listed counts. */
  #whyBest(id: string): string {
    if (this.#ranked === null)
      return this.#values.isBest(id) ? `The ${this.#extreme} ${this.#metric} of those listed` : '';
    const best = this.#best.value;
    if (!best || (best.checkpoint_id !== id && !best.tied_checkpoint_ids.includes(id))) return '';
    return `The ${best.direction === 'minimize' ? 'lowest' : 'highest'} ${best.metric} of this ${this.#view.run_id === null ? 'experiment' : 'run'}`;
  }

  #renderEmpty() {
    const { run_id: runId, experiment_id, project_id, q } = this.#view;
    if (q !== null || experiment_id !== null || project_id !== null)
      return html`<svc-notice icon="checkpoints" headline="No checkpoint fits"
        ><a href=${paths.checkpoints({ run_id: runId })}
          >Show all ${runId === null ? 'checkpoints' : 'of this run'}</a
        ></svc-notice
      >`;
    return html`<svc-notice
      icon="checkpoints"
      headline=${runId === null ? 'No checkpoints yet' : 'This run has no checkpoint yet'}
      command=${'run.checkpoint("out/checkpoint-100", step=100)'}
      >A training registers what it saves by this line. Folders named checkpoint-… in the working directory of
      a job are found by themselves.</svc-notice
    >`;
  }

  #toggle(id: string): void {
    const { compare } = this.#view;
    this.#go(
      { compare: compare.includes(id) ? compare.filter((one) => one !== id) : [...compare, id] },
      true,
    );
  }

  #go(change: Partial<CheckpointListView>, replace = false): void {
    navigate(paths.checkpoints(checkpointQueryOf({ ...this.#view, ...change })), { replace });
  }
}
