import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import {
  deleteExperiment,
  deleteProject,
  updateExperiment,
  updateProject,
  type Experiment,
  type PlaceDraft,
  type Project,
} from '../data/projects.js';
import { isolated } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { ask } from './svc-confirm.js';
import './svc-place-form.js';
import type { SvcPlaceForm } from './svc-place-form.js';
import { toast } from './svc-toasts.js';

/** Edit and delete a project or an experiment, for callers that may. Fires `svc-changed`, and `svc-deleted` when it is gone. */
@customElement('svc-place-actions')
export class SvcPlaceActions extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) place!: Project | Experiment;
  @query('svc-place-form') private readonly form!: SvcPlaceForm;

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      :host {
        display: inline-flex;
        gap: var(--space-2);
      }
    `,
  ];

  override render() {
    if (!this.who?.can_write) return nothing;
    const { name } = this.place;
    return html`<button
        class="button"
        @click=${() => this.form.open((draft) => this.#save(draft), this.place)}
      >
        Edit
      </button>
      <button class="button" @click=${() => void this.#delete()}>Delete</button>
      <svc-place-form headline="Edit ${name}" verb="Save"></svc-place-form>`;
  }

  get #isExperiment(): boolean {
    return 'project_id' in this.place;
  }

  get #noun(): string {
    return this.#isExperiment ? 'experiment' : 'project';
  }

  async #save(draft: PlaceDraft): Promise<void> {
    const update = this.#isExperiment ? updateExperiment : updateProject;
    await update(this.api, this.place.id, draft);
    toast(`${draft.name} is saved.`);
    this.dispatchEvent(new CustomEvent('svc-changed'));
  }

  async #delete(): Promise<void> {
    const isConfirmed = await ask({
      headline: `Delete ${isolated(this.place.name)}?`,
      text: this.#isExperiment
        ? 'Only an experiment without runs and jobs can be deleted.'
        : 'Only a project without experiments, runs and jobs can be deleted.',
      confirm: `Delete the ${this.#noun}`,
      dismiss: 'Keep it',
    });
    if (!isConfirmed) return;
    const remove = this.#isExperiment ? deleteExperiment : deleteProject;
    try {
      await remove(this.api, this.place.id);
      toast(`${this.place.name} is deleted.`);
      this.dispatchEvent(new CustomEvent('svc-deleted'));
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
  }
}
