import { consume } from '@lit/context';
import type { Evaluation } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { NO_EVALUATION, toEvaluation, type EvaluationDraft } from '../data/evaluation-draft.js';
import { evaluateCheckpoint } from '../data/evaluations.js';
import { dialogFormStyles, dialogStyles } from '../styles/dialog-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

/** Asks how to evaluate a checkpoint, and queues it. Fires `svc-evaluation` with the evaluation. */
@customElement('svc-evaluate-form')
export class SvcEvaluateForm extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() checkpointId = '';
  /** The last part of its path. */
  @property() name = '';
  @state() private draft = NO_EVALUATION;
  @state() private error = '';
  @state() private isBusy = false;
  @query('dialog') private readonly dialog!: HTMLDialogElement;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    dialogStyles,
    dialogFormStyles,
    css`
      dialog {
        width: min(40rem, calc(100vw - 2rem));
      }
      textarea {
        field-sizing: content;
        min-height: calc(2lh + 1rem);
        max-height: 12rem;
      }
      .hint {
        margin-top: var(--space-2);
      }
      .labels {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
        gap: var(--space-3);
      }
      .where {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 9rem;
        gap: var(--space-3);
        align-items: end;
      }
    `,
  ];

  open(draft: EvaluationDraft): void {
    this.draft = draft;
    this.error = '';
    this.dialog.showModal();
  }

  override render() {
    return html`<dialog aria-labelledby="headline">
      <form @submit=${this.#onSubmit}>
        <h2 id="headline">Evaluate ${this.name}</h2>
        <div>
          ${this.#renderArea('command', 'Command', 'python3 eval.py', 2, true)}
          <p class="hint">
            It finds the checkpoint in <code>SVC_EVAL_CHECKPOINT</code> and writes its result as JSON to the
            file that <code>SVC_EVAL_OUTPUT</code> names:
            <code>{"metrics": {"eval/loss": 0.3}, "runtime_s": 12}</code>
          </p>
        </div>
        <div class="labels">
          ${this.#renderField('suite', 'Suite', 'heldout')}
          ${this.#renderField('dataset', 'Dataset', 'imagenet')}
          ${this.#renderField('dataset_version', 'Dataset version', 'v2')}
        </div>
        <div>
          <div class="where">
            ${this.#renderField('working_dir', 'Working directory', 'that of the training', true)}
            ${this.#renderField('gpus', 'GPUs', 'as before')}
          </div>
          <p class="hint">
            What is left out is that of the training job. It runs on the node that holds the checkpoint.
          </p>
        </div>
        ${this.#renderArea('env', 'Environment', 'NAME=VALUE, one on each line', 2, false)}
        ${this.error === '' ? nothing : html`<p class="error" role="alert">${icon('warning', 14)}${this.error}</p>`}
        <div class="actions">
          <button class="button" type="button" @click=${() => this.dialog.close()}>Back</button>
          <button class="button primary" ?disabled=${this.isBusy}>Evaluate</button>
        </div>
      </form>
    </dialog>`;
  }

  #renderField(name: keyof EvaluationDraft, label: string, placeholder: string, isCode = false) {
    return html`<label
      ><span>${label} <span class="optional">(optional)</span></span>
      <input
        class="input ${isCode ? 'code' : ''}"
        name=${name}
        maxlength=${name === 'working_dir' ? 4096 : 200}
        inputmode=${name === 'gpus' ? 'numeric' : nothing}
        pattern=${name === 'gpus' ? '[0-9]{1,4}' : nothing}
        title=${name === 'gpus' ? 'A number of GPUs; 0 for the CPU alone' : nothing}
        placeholder=${placeholder}
        spellcheck="false"
        autocomplete="off"
        .value=${this.draft[name]}
        @input=${(event: Event) => this.#change(name, event)}
    /></label>`;
  }

  #renderArea(
    name: keyof EvaluationDraft,
    label: string,
    placeholder: string,
    rows: number,
    isRequired: boolean,
  ) {
    return html`<label
      ><span>${label} ${isRequired ? nothing : html`<span class="optional">(optional)</span>`}</span>
      <textarea
        class="input code"
        name=${name}
        rows=${rows}
        placeholder=${placeholder}
        spellcheck="false"
        ?required=${isRequired}
        .value=${this.draft[name]}
        @input=${(event: Event) => this.#change(name, event)}
      ></textarea>
    </label>`;
  }

  #change(name: keyof EvaluationDraft, event: Event): void {
    const { value } = event.target as HTMLInputElement | HTMLTextAreaElement;
    this.draft = { ...this.draft, [name]: value };
  }

  readonly #onSubmit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const read = toEvaluation(this.draft);
    if ('flaw' in read) {
      this.error = read.flaw;
      return;
    }
    this.isBusy = true;
    try {
      const detail = await evaluateCheckpoint(this.api, this.checkpointId, read.body);
      this.dialog.close();
      this.dispatchEvent(new CustomEvent<Evaluation>('svc-evaluation', { detail }));
    } catch (error) {
      this.error = toApiError(error).message;
    }
    this.isBusy = false;
  };
}
