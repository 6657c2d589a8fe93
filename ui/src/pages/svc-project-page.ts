import { consume } from '@lit/context';
import type { Experiment, Project } from '@svc/contract';
import { LitElement, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
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
import { apiContext, whoContext } from '../data/contexts.js';
import { readExperiments } from '../data/lists.js';
import { createExperiment, getProject, type PlaceDraft } from '../data/projects.js';
import { plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { nameTab } from '../tab-title.js';
import { placePageStyles } from './place-page-styles.js';

/** One project and its experiments. */
@customElement('svc-project-page')
export class SvcProjectPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() projectId = '';
  @query('svc-place-form') private readonly form!: SvcPlaceForm;

  readonly #project = new Loader<Project>(this, {
    load: (signal) => this.#load(signal),
    everyMs: 30_000,
  });
  readonly #experiments = new ListController<Experiment>(this, {
    question: () => this.projectId,
    read: (last, signal) => readExperiments(this.api, this.projectId, last, signal),
    everyMs: 30_000,
  });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, placePageStyles];

  override render() {
    const project = this.#project.value;
    if (!project) return renderPending(this.#project, 'project', paths.projects());
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
          html`<svc-places-table .places=${experiments}></svc-places-table>`}
        ><svc-notice
          icon="projects"
          headline="No experiments in this project yet"
          command="svc submit --project ${id} --experiment first -- python3 train.py"
          >An experiment holds the runs that belong together. One that a job or a run names is made by
          itself.</svc-notice
        ></svc-list
      >
      <svc-place-form headline="New experiment in ${name}" verb="Create"></svc-place-form>
    `;
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
