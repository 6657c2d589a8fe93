import { consume } from '@lit/context';
import type { Experiment, Project, Run, RunComparison } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { experimentRunColumns, renderExperimentRuns } from '../components/experiment-runs.js';
import { icon } from '../components/icons.js';
import { renderPending } from '../components/record-parts.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import '../components/svc-place-actions.js';
import '../components/svc-place-form.js';
import type { SvcPlaceForm } from '../components/svc-place-form.js';
import '../components/svc-places-table.js';
import '../components/svc-stale.js';
import { ListController } from '../controllers/list.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { rankNewest } from '../data/comparison.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { readExperiments, readRuns, readRunsOfExperiment, type ListPage } from '../data/lists.js';
import { createExperiment, getProject, type PlaceDraft } from '../data/projects.js';
import { plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { nameTab } from '../tab-title.js';
import { placePageStyles } from './place-page-styles.js';

const NO_RANKINGS: ReadonlyMap<string, RunComparison> = new Map();
/** So many experiments have their best run read. */
const RANKED_EXPERIMENTS = 20;

/** One project: its experiments, each with its best run, and the runs that belong to none. */
@customElement('svc-project-page')
export class SvcProjectPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() projectId = '';
  @query('svc-place-form') private readonly form!: SvcPlaceForm;

  readonly #project = new Loader<Project>(this, {
    load: (signal) => this.#load(signal),
    everyMs: 30_000,
    isRecord: true,
  });
  readonly #experiments = new ListController<Experiment>(this, {
    question: () => this.projectId,
    read: (last, signal) => this.#readExperiments(last, signal),
    everyMs: 30_000,
    isOfRecord: true,
  });
  /** By experiment. */
  readonly #rankings = new Loader<ReadonlyMap<string, RunComparison>>(this, {
    load: (signal) => this.#rank(signal),
  });
  /** Of the newest runs of the project, those without an experiment. */
  readonly #others = new ListController<Run>(this, {
    name: 'others',
    question: () => this.projectId,
    read: (_, signal) => this.#readOthers(signal),
    everyMs: 30_000,
    isOfRecord: true,
  });
  readonly #ranking = new Loader<RunComparison | null>(this, {
    load: (signal) => rankNewest(this.api, this.#newestOthers, signal),
  });
  #ranked: readonly Experiment[] = [];
  #newestOthers: readonly Run[] = [];

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

  override render() {
    const project = this.#project.value;
    if (!project || this.#project.isDeleted) return renderPending(this.#project, 'project', paths.projects());
    const { name, description, id, run_count: runCount } = project;
    return html`
      <a class="crumb" href=${paths.projects()}>${icon('left', 14)}Projects</a>
      <header class="page-head">
        <h1>${name}</h1>
        <p class="summary"><a href=${paths.runs({ project_id: id })}>${plural(runCount, 'run')}</a></p>
        <svc-place-actions
          class="actions"
          .place=${project}
          @svc-changed=${() => this.#project.reload()}
          @svc-deleted=${() => navigate(paths.projects(), { replace: true })}
        ></svc-place-actions>
      </header>
      <svc-stale .error=${this.#project.error} @svc-retry=${() => this.#project.reload()}></svc-stale>
      ${description === '' ? nothing : html`<p class="description">${description}</p>`}
      <div class="section-head">
        <h2>Experiments</h2>
        ${
          this.who?.can_write
            ? html`<button class="button" @click=${() => this.form.open((draft) => this.#create(draft))}>
                New experiment
              </button>`
            : nothing
        }
      </div>
      <svc-list
        noun="experiment"
        .view=${this.#experiments.view}
        .renderItems=${(experiments: readonly Experiment[]) =>
          html`<svc-places-table
            .places=${experiments}
            .rankings=${this.#rankings.value ?? NO_RANKINGS}
          ></svc-places-table>`}
        ><svc-notice
          icon="projects"
          headline="No experiments in this project yet"
          command="svc submit --project ${id} --experiment first -- python3 train.py"
          >An experiment holds the runs that belong together. One that a job or a run names is made by
          itself.</svc-notice
        ></svc-list
      >
      ${this.#newestOthers.length === 0 ? nothing : this.#renderOthers(id)}
      <svc-place-form headline="New experiment in ${name}" verb="Create"></svc-place-form>
    `;
  }

  #renderOthers(id: string) {
    return html`<div class="section-head">
        <h2>Runs without an experiment</h2>
        <p>
          ${plural(this.#newestOthers.length, 'run')}, found among the newest runs of this project.
          <a href=${paths.runs({ project_id: id })}>All its runs</a>
        </p>
      </div>
      <svc-list
        noun="run"
        .columns=${experimentRunColumns(this.#ranking.value ?? null)}
        .view=${this.#others.view}
        .renderItems=${(runs: readonly Run[]) => renderExperimentRuns(runs, this.#ranking.value ?? null)}
      ></svc-list>`;
  }

  async #readExperiments(last: Experiment | null, signal: AbortSignal): Promise<ListPage<Experiment>> {
    const page = await readExperiments(this.api, this.projectId, last, signal);
    if (last === null && !signal.aborted) {
      this.#ranked = page.items.filter(({ run_count: count }) => count > 1).slice(0, RANKED_EXPERIMENTS);
      this.#rankings.reload();
    }
    return page;
  }

  /** One after the other: nobody waits for all of them. */
  async #rank(signal: AbortSignal): Promise<ReadonlyMap<string, RunComparison>> {
    const rankings = new Map<string, RunComparison>();
    for (const { id } of this.#ranked) {
      const { items } = await readRunsOfExperiment(this.api, id, null, signal);
      const ranking = await rankNewest(this.api, items, signal);
      if (ranking) rankings.set(id, ranking);
    }
    return rankings;
  }

  async #readOthers(signal: AbortSignal): Promise<ListPage<Run>> {
    const { items } = await readRuns(this.api, { project_id: this.projectId }, null, signal);
    const others = items.filter(({ experiment_id: experiment }) => experiment === null);
    if (!signal.aborted) {
      this.#newestOthers = others;
      this.#ranking.reload();
    }
    return { items: others, hasMore: false, isCut: false };
  }

  async #load(signal: AbortSignal): Promise<Project> {
    const project = await getProject(this.api, this.projectId, signal);
    if (!signal.aborted) nameTab(project.name);
    return project;
  }

  async #create(draft: PlaceDraft): Promise<void> {
    const { id } = await createExperiment(this.api, this.projectId, draft);
    navigate(paths.experiment(id));
  }
}
