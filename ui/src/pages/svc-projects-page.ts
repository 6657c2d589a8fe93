import { consume } from '@lit/context';
import type { Project } from '@svc/contract';
import { LitElement, html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import '../components/svc-place-form.js';
import type { SvcPlaceForm } from '../components/svc-place-form.js';
import '../components/svc-places-table.js';
import { ListController } from '../controllers/list.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { readProjects } from '../data/lists.js';
import { createProject, type PlaceDraft } from '../data/projects.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';

/** All projects, newest first. */
@customElement('svc-projects-page')
export class SvcProjectsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @query('svc-place-form') private readonly form!: SvcPlaceForm;

  readonly #projects = new ListController<Project>(this, {
    question: () => '',
    read: (last, signal) => readProjects(this.api, last, signal),
    everyMs: 30_000,
  });

  static override styles = [baseStyles, controlStyles, pageStyles];

  override render() {
    return html`
      <header class="page-head">
        <h1>Projects</h1>
        ${
          this.who?.can_write
            ? html`<div class="actions">
                <button class="button primary" @click=${() => this.form.open((draft) => this.#create(draft))}>
                  New project
                </button>
              </div>`
            : nothing
        }
      </header>
      <svc-list
        noun="project"
        .view=${this.#projects.view}
        .renderItems=${(projects: readonly Project[]) =>
          html`<svc-places-table .places=${projects}></svc-places-table>`}
        ><svc-notice
          icon="projects"
          headline="No projects yet"
          command="svc submit --project vision --experiment resnet -- python3 train.py"
          >A project holds experiments, and an experiment holds runs. One that a job or a run names is made by
          itself.</svc-notice
        ></svc-list
      >
      <svc-place-form headline="New project" verb="Create"></svc-place-form>
    `;
  }

  async #create(draft: PlaceDraft): Promise<void> {
    const { id } = await createProject(this.api, draft);
    navigate(paths.project(id));
  }
}
