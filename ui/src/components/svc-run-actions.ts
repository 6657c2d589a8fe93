import { consume } from '@lit/context';
import type { Run } from '@svc/contract';
import { EXPORT_FORMATS, NOTES_BYTES, type ExportFormat } from '@svc/contract/protocol';
import { LitElement, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import {
  deleteRun,
  exportPoints,
  finishRun,
  updateRun,
  type RunChange,
  type RunEnd,
} from '../data/run-actions.js';
import type { RunSummary } from '../data/runs.js';
import { formatCount, isolated, plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { saveFile } from '../save-file.js';
import { dialogStyles } from '../styles/dialog-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';
import { PageActions, type PageAction } from './page-actions.js';
import { runActionsStyles } from './run-actions-styles.js';
import { ask } from './svc-confirm.js';
import './svc-tag-field.js';
import { toast } from './svc-toasts.js';

const FORMAT_LABELS: Readonly<Record<ExportFormat, string>> = {
  csv: 'CSV',
  jsonl: 'JSON Lines',
  parquet: 'Parquet',
};
const ENDS: readonly { readonly status: RunEnd; readonly label: string }[] = [
  { status: 'SUCCEEDED', label: 'Succeeded' },
  { status: 'FAILED', label: 'Failed' },
  { status: 'CANCELLED', label: 'Cancelled' },
];

/**
 * What can be done with a run: export for everybody; edit, end and delete for callers that may write. Fires `svc-run-changed` when something
 * was done.
 */
@customElement('svc-run-actions')
export class SvcRunActions extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) run!: Run;
  @property({ attribute: false }) summary: RunSummary | null = null;
  @state() private isBusy = false;
  @state() private problem = '';
  @state() private name = '';
  @state() private notes = '';
  @state() private tags: readonly string[] = [];
  @query('dialog.edit') private readonly editor!: HTMLDialogElement;
  @query('dialog.end') private readonly ender!: HTMLDialogElement;
  @query('details') private readonly menu!: HTMLDetailsElement | null;

  static override styles = [baseStyles, controlStyles, iconStyles, dialogStyles, runActionsStyles];

  constructor() {
    super();
    new PageActions(this, () => (this.isBusy ? [] : this.#pageActions));
  }

  override render() {
    const mayWrite = this.who?.can_write ?? false;
    return html`
      ${mayWrite ? html`<button class="button" ?disabled=${this.isBusy} @click=${this.#edit}>Edit</button>` : nothing}
      ${this.#renderExport()}
      ${mayWrite && this.#canEnd ? html`<button class="button" ?disabled=${this.isBusy} @click=${this.#openEnd}>End run</button>` : nothing}
      ${
        mayWrite && this.run.status !== 'RUNNING'
          ? html`<button class="button" ?disabled=${this.isBusy} @click=${() => void this.#delete()}>
              Delete
            </button>`
          : nothing
      }
      ${mayWrite ? html`${this.#renderEditor()} ${this.#renderEnder()}` : nothing}
    `;
  }

  get #pageActions(): PageAction[] {
    const exports = EXPORT_FORMATS.map((format): PageAction => ({
      icon: 'download',
      label: `Export the points as ${FORMAT_LABELS[format]}`,
      words: 'download',
      choose: () => void this.#export(format),
    }));
    if (!this.who?.can_write) return exports;
    const end: PageAction = { icon: 'stop', label: 'End this run', words: 'finish', choose: this.#openEnd };
    const remove: PageAction = {
      icon: 'cross',
      label: 'Delete this run',
      words: 'remove',
      choose: () => void this.#delete(),
    };
    return [
      { icon: 'edit', label: 'Edit this run', words: 'rename name tags notes annotate', choose: this.#edit },
      ...(this.#canEnd ? [end] : []),
      ...(this.run.status === 'RUNNING' ? [] : [remove]),
      ...exports,
    ];
  }

  /** A run of a job ends with its job. */
  get #canEnd(): boolean {
    const { status, job_id: jobId } = this.run;
    return jobId === null && (status === 'RUNNING' || status === 'LOST');
  }

  #renderExport() {
    return html`<details @keydown=${this.#onMenuKey} @focusout=${this.#onMenuBlur}>
      <summary class="button" aria-haspopup="true">${icon('download', 14)}Export</summary>
      <ul aria-label="Export every point as">
        ${EXPORT_FORMATS.map(
          (format) =>
            html`<li>
              <button class="button plain" ?disabled=${this.isBusy} @click=${() => void this.#export(format)}>
                Points as ${FORMAT_LABELS[format]}
              </button>
            </li>`,
        )}
      </ul>
    </details>`;
  }

  #renderEditor() {
    return html`<dialog class="edit" aria-labelledby="edit">
      <form @submit=${this.#onSave}>
        <h2 id="edit">Edit the run</h2>
        <div class="form">
          <label class="label"
            >Name
            <input
              class="input"
              required
              maxlength="200"
              .value=${live(this.name)}
              @input=${(event: Event) => (this.name = (event.target as HTMLInputElement).value)}
          /></label>
          <div class="label">
            Tags
            <svc-tag-field
              .tags=${this.tags}
              @svc-tags=${(event: CustomEvent<readonly string[]>) => (this.tags = event.detail)}
            ></svc-tag-field>
          </div>
          <label class="label"
            >Notes
            <textarea
              class="input"
              rows="6"
              .value=${live(this.notes)}
              @input=${(event: Event) => (this.notes = (event.target as HTMLTextAreaElement).value)}
            ></textarea>
          </label>
        </div>
        ${this.#renderProblem()}
        <div class="buttons">
          <button class="button" type="button" @click=${() => this.editor.close()}>Cancel</button>
          <button class="button primary" ?disabled=${this.isBusy}>Save</button>
        </div>
      </form>
    </dialog>`;
  }

  #renderEnder() {
    return html`<dialog class="end" aria-labelledby="end">
      <form @submit=${this.#onEnd}>
        <h2 id="end">End <bdi>${this.run.name}</bdi>?</h2>
        <p>
          Do this when the training is gone and nobody else ends the run. Its points stay. A process that
          still reports to it is refused from then on, and the state cannot be changed again.
        </p>
        <div class="form">
          <fieldset>
            <legend>It ended as</legend>
            ${ENDS.map(
              ({ status, label }) =>
                html`<label
                  ><input
                    type="radio"
                    name="status"
                    value=${status}
                    ?checked=${status === 'FAILED'}
                  />${label}</label
                >`,
            )}
          </fieldset>
        </div>
        ${this.#renderProblem()}
        <div class="buttons">
          <button class="button" type="button" @click=${() => this.ender.close()}>Keep it open</button>
          <button class="button primary" ?disabled=${this.isBusy}>End the run</button>
        </div>
      </form>
    </dialog>`;
  }

  #renderProblem() {
    return this.problem === '' ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`;
  }

  #describeLoss(): string {
    const metrics = Object.values(this.summary?.metrics ?? {});
    const points = metrics.reduce((sum, { count }) => sum + count, 0);
    const lost =
      metrics.length === 0
        ? 'Its points'
        : `Its ${plural(points, 'point')} of ${plural(metrics.length, 'metric')}`;
    const job = this.run.job_id === null ? '' : ', and so does its job with the log';
    return `${lost}, its config and environment, notes, tags, events, and the records of its checkpoints and evaluations are lost. The checkpoint files on the hosts stay${job}. This cannot be undone.`;
  }

  readonly #edit = (): void => {
    const { name, notes, tags } = this.run;
    Object.assign(this, { name, notes, tags, problem: '' });
    this.editor.showModal();
  };

  readonly #openEnd = (): void => {
    this.problem = '';
    this.ender.showModal();
  };

  readonly #onSave = (event: Event): void => {
    event.preventDefault();
    const bytes = new TextEncoder().encode(this.notes).length;
    if (bytes > NOTES_BYTES) {
      this.problem = `The notes have ${formatCount(bytes)} bytes; at most ${formatCount(NOTES_BYTES)} fit. Shorten them.`;
      return;
    }
    const change = this.#change;
    if (Object.keys(change).length === 0) return this.editor.close();
    void this.#act(this.editor, async () => {
      await updateRun(this.api, this.run.id, change);
      return 'The run is saved.';
    });
  };

  /** What is not as the run has it. */
  get #change(): RunChange {
    const { run, notes, tags } = this;
    const name = this.name.trim();
    return {
      ...(name !== run.name && { name }),
      ...(notes !== run.notes && { notes }),
      ...(JSON.stringify(tags) !== JSON.stringify(run.tags) && { tags: [...tags] }),
    };
  }

  readonly #onEnd = (event: Event): void => {
    event.preventDefault();
    const status = new FormData(event.target as HTMLFormElement).get('status') as RunEnd;
    void this.#act(this.ender, async () => {
      await finishRun(this.api, this.run.id, status);
      return `${this.run.name} has ended.`;
    });
  };

  async #export(format: ExportFormat): Promise<void> {
    this.menu?.removeAttribute('open');
    this.isBusy = true;
    try {
      saveFile(await exportPoints(this.api, this.run.id, format), `${this.run.id}-metrics.${format}`);
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isBusy = false;
  }

  async #delete(): Promise<void> {
    const { id, name } = this.run;
    const isConfirmed = await ask({
      headline: `Delete ${isolated(name)}?`,
      text: this.#describeLoss(),
      confirm: 'Delete the run',
      dismiss: 'Keep it',
    });
    if (!isConfirmed) return;
    this.isBusy = true;
    try {
      await deleteRun(this.api, id);
      toast(`${name} is deleted.`);
      navigate(paths.runs());
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isBusy = false;
  }

  /** What is refused is said in the dialog, which stays open. */
  async #act(dialog: HTMLDialogElement, action: () => Promise<string>): Promise<void> {
    this.isBusy = true;
    this.problem = '';
    const done = await action().catch((error: unknown) => {
      this.problem = toApiError(error).message;
      return null;
    });
    this.isBusy = false;
    if (done === null) return;
    // The button that opened the dialog gets the focus back once it is no longer disabled.
    await this.updateComplete;
    dialog.close();
    toast(done);
    this.dispatchEvent(new CustomEvent('svc-run-changed', { bubbles: true, composed: true }));
  }

  readonly #onMenuKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !this.menu?.open) return;
    this.menu.open = false;
    this.menu.querySelector('summary')?.focus();
  };

  readonly #onMenuBlur = (event: FocusEvent): void => {
    const isInside = event.relatedTarget instanceof Node && this.menu?.contains(event.relatedTarget);
    if (!isInside) this.menu?.removeAttribute('open');
  };
}
