import { LitElement, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { toApiError } from '../data/api.js';
import type { PlaceDraft } from '../data/projects.js';
import { dialogFormStyles, dialogStyles } from '../styles/dialog-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

const NO_DRAFT: PlaceDraft = { name: '', description: '' };

/** Name and description of a project or an experiment, in a dialog that stays open until they are saved. */
@customElement('svc-place-form')
export class SvcPlaceForm extends LitElement {
  @property() headline = '';
  /** What the button does: `Create`. */
  @property() verb = 'Save';
  @state() private draft = NO_DRAFT;
  @state() private error = '';
  @state() private isBusy = false;
  @query('dialog') private readonly dialog!: HTMLDialogElement;
  #save: (draft: PlaceDraft) => Promise<void> = () => Promise.resolve();

  static override styles = [baseStyles, controlStyles, iconStyles, dialogStyles, dialogFormStyles];

  /** Opens the dialog; what `save` throws is shown in it. */
  open(save: (draft: PlaceDraft) => Promise<void>, draft: PlaceDraft = NO_DRAFT): void {
    this.#save = save;
    this.draft = { name: draft.name, description: draft.description };
    this.error = '';
    this.dialog.showModal();
  }

  override render() {
    const { name, description } = this.draft;
    return html`<dialog aria-labelledby="headline">
      <form @submit=${this.#onSubmit}>
        <h2 id="headline">${this.headline}</h2>
        <label
          >Name
          <input
            class="input"
            name="name"
            required
            maxlength="200"
            autocomplete="off"
            .value=${name}
            @input=${(event: Event) => this.#change({ name: textOf(event) })}
        /></label>
        <label
          ><span>Description <span class="optional">(optional)</span></span>
          <textarea
            class="input"
            name="description"
            rows="3"
            maxlength="10000"
            .value=${description}
            @input=${(event: Event) => this.#change({ description: textOf(event) })}
          ></textarea>
        </label>
        ${this.error === '' ? nothing : html`<p class="error" role="alert">${icon('warning', 14)}${this.error}</p>`}
        <div class="actions">
          <button class="button" type="button" @click=${() => this.dialog.close()}>Back</button>
          <button class="button primary" ?disabled=${this.isBusy}>${this.verb}</button>
        </div>
      </form>
    </dialog>`;
  }

  #change(change: Partial<PlaceDraft>): void {
    this.draft = { ...this.draft, ...change };
  }

  readonly #onSubmit = async (event: Event): Promise<void> => {
    event.preventDefault();
    this.isBusy = true;
    try {
      await this.#save({ ...this.draft, name: this.draft.name.trim() });
      this.dialog.close();
    } catch (error) {
      this.error = toApiError(error).message;
    }
    this.isBusy = false;
  };
}

function textOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLTextAreaElement).value;
}
