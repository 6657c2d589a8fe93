import { consume } from '@lit/context';
import type { BestCheckpoint, Experiment, Project, Run, RunComparison } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { experimentRunColumns, renderExperimentRuns } from '../components/experiment-runs.js';
import { icon } from '../components/icons.js';
import { renderPending } from '../components/record-parts.js';
import '../components/svc-best-checkpoint.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import '../components/svc-place-actions.js';
import '../components/svc-stale.js';
import { Address } from '../controllers/address.js';
import { ListController, type ListView } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { bestOfExperiment } from '../data/checkpoints.js';
import { compareRuns, MAX_COMPARED } from '../data/comparison.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { readRunsOfExperiment, type ListPage } from '../data/lists.js';
import { findPrimaryMetric } from '../data/metric-definitions.js';
import { getExperiment, getProject } from '../data/projects.js';
import { formatValue, plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { nameTab } from '../tab-title.js';
import { placePageStyles } from './place-page-styles.js';

interface Place {
  readonly experiment: Experiment;
  readonly project: Project;
}

/** One experiment: its best run and checkpoint, and all of its runs. */
@customElement('svc-experiment-page')
export class SvcExperimentPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() experimentId = '';

  readonly #address = new Address(this);
  readonly #place = new Loader<Place>(this, {
    load: (signal) => this.#loadPlace(signal),
    everyMs: 30_000,
    isRecord: true,
  });
  readonly #runs = new ListController<Run>(this, {
    question: () => this.experimentId,
    read: (last, signal) => this.#readRuns(last, signal),
    everyMs: 10_000,
    isOfRecord: true,
  });
  /** Without one the server has no best run and no best checkpoint to tell, and is not asked for them. */
  readonly #primary = new Loader<string | null | undefined>(this, {
    load: (signal) => this.#findPrimary(signal),
  });
  /** Of the newest runs, by the primary metric. */
  readonly #ranking = new Loader<RunComparison | null>(this, { load: (signal) => this.#rank(signal) });
  readonly #best = new Loader<BestCheckpoint | null>(this, {
    load: async (signal) => (this.#isRanked ? bestOfExperiment(this.api, this.experimentId, signal) : null),
    everyMs: 30_000,
  });
  readonly #names = new RecordNames(this, () => this.api);
  #newest: readonly Run[] = [];
  #hasPrimary = false;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    placePageStyles,
    css`
      :host {
        --columns: 6.75rem minmax(9rem, 2.4fr) minmax(6rem, 1fr) minmax(8rem, 1.4fr) 5rem 5rem;
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const ids = new Set(events.flatMap(({ run_id: runId }) => runId ?? []));
      if (ids.size === 0 || this.#place.isMissing) return;
      this.#runs.refreshItems(ids);
      this.#best.refresh();
    });
  }

  override render() {
    const place = this.#place.value;
    if (!place || this.#place.isDeleted)
      return renderPending(this.#place, 'experiment', paths.projects(), 'projects');
    const { experiment, project } = place;
    return html`
      <a class="crumb" href=${paths.project(project.id)}
        >${icon('left', 14)}<bdi class="truncate">${project.name}</bdi></a
      >
      <header class="page-head">
        <h1>${experiment.name}</h1>
        <p class="summary">
          <a href=${paths.runs({ experiment_id: experiment.id })}>${plural(experiment.run_count, 'run')}</a>
        </p>
        <svc-place-actions
          class="actions"
          .place=${experiment}
          @svc-changed=${() => this.#place.reload()}
          @svc-deleted=${() => navigate(paths.project(project.id), { replace: true })}
        ></svc-place-actions>
      </header>
      <svc-stale .error=${this.#place.error} @svc-retry=${() => this.#place.reload()}></svc-stale>
      ${experiment.description === '' ? nothing : html`<p class="description">${experiment.description}</p>`}
      ${experiment.run_count === 0 ? nothing : this.#renderCards()} ${this.#renderRuns()}
    `;
  }

  #renderCards() {
    return html`<div class="cards">
      <section class="panel">
        <div class="panel-head"><h2>Best run</h2></div>
        ${this.#renderBestRun()}
      </section>
      <section class="panel">
        <div class="panel-head"><h2>Best checkpoint</h2></div>
        ${
          this.#primary.value === null
            ? this.#renderNoPrimary('checkpoint')
            : html`<svc-best-checkpoint
                of="experiment"
                runName=${this.#best.value ? this.#names.of(this.#best.value.run_id) : ''}
                .best=${this.#best.error ? null : (this.#best.value ?? null)}
                .error=${this.#best.error}
              ></svc-best-checkpoint>`
        }
      </section>
    </div>`;
  }

  #renderNoPrimary(what: 'run' | 'checkpoint') {
    const { experiment, project } = this.#place.value!;
    const settings = paths.settings({ project_id: project.id, experiment_id: experiment.id });
    return html`<div class="fact">
      No best ${what} yet
      <p>
        No primary metric is set, by which runs are ranked.
        <a href=${settings}>${this.who?.can_write ? 'Set one in the settings' : 'See the metrics'}</a>
      </p>
    </div>`;
  }

  #renderBestRun() {
    if (this.#primary.value === null) return this.#renderNoPrimary('run');
    const { value: ranking, error } = this.#ranking;
    if (error) {
      return html`<div class="fact">
        No best run yet
        <p>${error.message}</p>
      </div>`;
    }
    if (!ranking)
      return html`<p class="fact quiet">
        ${this.#newest.length === 1 ? 'It has one run alone.' : 'Looking for the best run…'}
      </p>`;
    const best = ranking.entries.find(({ is_best: isBest }) => isBest);
    if (!best || best.best === null)
      return html`<p class="fact quiet">None of its runs has a value of ${ranking.metric}.</p>`;
    const extreme = ranking.direction === 'minimize' ? 'lowest' : 'highest';
    const tied =
      ranking.tied_ids.length > 1 ? `, tied with ${plural(ranking.tied_ids.length - 1, 'other')}` : '';
    const of = `of ${plural(ranking.entries.length, 'run')}${this.#newest.length > MAX_COMPARED ? ', the newest' : ''}`;
    return html`<div class="fact">
      <a href=${paths.run(best.run_id)}>${best.name}</a>
      <p>
        The ${extreme} <b>${ranking.metric}</b>, ${formatValue(fromMetricValue(best.best))},
        ${of}${tied}${best.best_source === 'evaluation' ? ', by an evaluation' : ''}.
      </p>
    </div>`;
  }

  #renderRuns() {
    const compared = this.#newest.slice(0, MAX_COMPARED);
    const label =
      this.#newest.length > MAX_COMPARED ? `Compare the newest ${MAX_COMPARED}` : 'Compare them all';
    return html`<div class="section-head">
        <h2>Runs</h2>
        ${
          this.#ranking.value
            ? html`<button
                class="button"
                aria-pressed=${this.#isByRank ? 'true' : 'false'}
                @click=${() => this.#address.set({ sort: this.#isByRank ? null : 'best' }, 'push')}
              >
                Best first
              </button>`
            : nothing
        }
        ${
          compared.length < 2
            ? nothing
            : html`<a
                class="button primary"
                href=${paths.compare({ runs: compared.map(({ id }) => id).join(',') })}
                >${icon('compare', 14)}${label}</a
              >`
        }
      </div>
      <svc-list
        noun="run"
        .columns=${experimentRunColumns(this.#ranking.value ?? null)}
        .view=${this.#view}
        .renderItems=${(runs: readonly Run[]) => renderExperimentRuns(runs, this.#ranking.value ?? null)}
        ><svc-notice
          icon="runs"
          headline="No runs in this experiment yet"
          command="svc submit --experiment ${this.experimentId} -- python3 train.py"
          >A job that names this experiment starts a run in it.</svc-notice
        ></svc-list
      >`;
  }

  get #isRanked(): boolean {
    return this.#hasPrimary && !this.#place.isMissing;
  }

  get #isByRank(): boolean {
    return this.#address.get('sort') === 'best';
  }

  /** Newest first, or by rank, with those that have none behind them. */
  get #view(): ListView<Run> {
    const { view } = this.#runs;
    const { value: ranking } = this.#ranking;
    if (!this.#isByRank || !ranking) return view;
    const ranks = new Map(ranking.entries.map(({ run_id: id, rank }) => [id, rank]));
    const rankOf = ({ id }: Run): number => ranks.get(id) ?? Infinity;
    return { ...view, items: [...view.items].sort((a, b) => rankOf(a) - rankOf(b) || 0) };
  }

  async #loadPlace(signal: AbortSignal): Promise<Place> {
    const experiment = await getExperiment(this.api, this.experimentId, signal);
    const project = await getProject(this.api, experiment.project_id, signal);
    if (!signal.aborted) nameTab(experiment.name);
    return { experiment, project };
  }

  async #readRuns(last: Run | null, signal: AbortSignal): Promise<ListPage<Run>> {
    const page = await readRunsOfExperiment(this.api, this.experimentId, last, signal);
    if (last === null && !signal.aborted) {
      this.#newest = page.items;
      this.#primary.reload();
    }
    return page;
  }

  /** Of the newest run: a run knows that of its experiment, and may have set one of its own. */
  async #findPrimary(signal: AbortSignal): Promise<string | null | undefined> {
    const [newest] = this.#newest;
    if (!newest) return undefined;
    const primary = await findPrimaryMetric(this.api, { run_id: newest.id }, signal);
    if (signal.aborted) return null;
    this.#hasPrimary = primary !== null;
    this.#ranking.reload();
    this.#best.reload();
    return primary;
  }

  /** There is nothing to rank with one run alone, or without a primary metric. */
  async #rank(signal: AbortSignal): Promise<RunComparison | null> {
    const ids = this.#newest.slice(0, MAX_COMPARED).map(({ id }) => id);
    return ids.length < 2 || !this.#hasPrimary ? null : compareRuns(this.api, ids, null, signal);
  }
}
