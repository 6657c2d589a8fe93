import { toCommandLine, toSubmitCommand } from '@svc/client';
import type { Issue } from '@svc/contract';
import { LitElement, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { findShellSign, toDefaultName, toSubmit, toWords, type JobDraft } from '../data/job-draft.js';
import type { NodeRecord } from '../data/nodes.js';
import type { Runner } from '../data/runners.js';
import { plural } from '../format.js';
import { formStyles } from '../styles/form-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { renderChoice, renderPairs, renderText, renderWithList, textOf, type Place } from './form-fields.js';
import { describedBy, isInvalid, renderErrors, type FieldLook } from './form-parts.js';
import { icon } from './icons.js';
import { renderResources } from './job-form-resources.js';
import { renderRunner } from './job-form-runner.js';
import { jobFormStyles } from './job-form-styles.js';
import { errorsOf, otherIssuesOf, type JobFormView } from './job-form-view.js';
import './svc-code.js';

/** What a new job is to be. Fires `svc-draft` with each change, and `svc-submit` when it is to be sent. */
@customElement('svc-job-form')
export class SvcJobForm extends LitElement implements JobFormView {
  @property({ attribute: false }) draft!: JobDraft;
  @property({ attribute: false }) issues: readonly Issue[] = [];
  /** What else kept it from being sent. */
  @property() problem = '';
  @property({ type: Boolean }) busy = false;
  @property({ attribute: false }) runners: readonly Runner[] = [];
  @property({ attribute: false }) nodes: readonly NodeRecord[] = [];
  @property({ attribute: false }) projects: readonly Place[] = [];
  @property({ attribute: false }) experiments: readonly Place[] = [];
  /** The job that the source files come from, by its id. */
  @property() source = '';
  /** The names of variables whose values could not be copied. */
  @property({ attribute: false }) uncopied: readonly string[] = [];

  static override styles = [baseStyles, controlStyles, iconStyles, panelStyles, formStyles, jobFormStyles];

  override render() {
    return html`<form novalidate @submit=${this.#onSubmit} @keydown=${this.#onKey}>
      <div class="fields">
        ${this.#renderCommand()} ${renderResources(this)} ${renderRunner(this)} ${this.#renderPlace()}
        ${this.#renderEnv()}
      </div>
      <div class="end">${this.#renderEnd()}</div>
    </form>`;
  }

  /** Puts the focus where something is wrong. */
  async showProblem(): Promise<void> {
    await this.updateComplete;
    const faulty = [
      ...this.renderRoot.querySelectorAll<HTMLElement>('[aria-invalid="true"], svc-pairs[data-invalid]'),
    ];
    (faulty[0] ?? this.renderRoot.querySelector<HTMLElement>('.problem'))?.focus();
  }

  get #runner(): Runner | undefined {
    return this.runners.find(({ name }) => name === this.draft.runner);
  }

  #renderCommand() {
    const { mode, line, shell } = this.draft;
    const look: FieldLook = { id: 'command', label: 'Command', errors: errorsOf(this, 'command'), hint: '' };
    const isShell = mode === 'shell';
    return html`<section class="panel" aria-labelledby="heading-command">
      <h2 id="heading-command">What runs</h2>
      <div class="field">
        <div class="over">
          <label for="command">Command</label>
          <div class="segmented" role="group" aria-label="How the command is read">
            ${renderChoice('Program and arguments', !isShell, () => this.change({ mode: 'arguments' }))}
            ${renderChoice('Shell line', isShell, () => this.change({ mode: 'shell' }))}
          </div>
        </div>
        <textarea
          id="command"
          class="input code"
          rows=${Math.min(12, Math.max(2, line.split('\n').length))}
          placeholder=${isShell ? 'cd src && python3 train.py | tee out.txt' : 'python3 train.py --epochs 90'}
          spellcheck="false"
          autocapitalize="off"
          aria-invalid=${isInvalid(look)}
          aria-describedby=${describedBy(look)}
          .value=${live(line)}
          @input=${(event: Event) => this.change({ line: textOf(event) })}
        ></textarea>
        ${renderErrors(look)}
        <div class="hint" id="command-hint">
          ${isShell ? html`<p>Runs as <code>${shell} -c</code> with this line: pipes, variables and && work.</p>` : this.#renderWords()}
        </div>
      </div>
      ${renderText({ id: 'name', label: 'Name', isOptional: true, errors: errorsOf(this, 'name') }, this.draft.name, (name) => this.change({ name }), { placeholder: toDefaultName(this.draft), maxLength: 200 })}
      ${this.draft.snapshot === null ? this.#renderDirectory() : this.#renderSnapshot(this.draft.snapshot)}
    </section>`;
  }

  /** Shows how the line is understood. */
  #renderWords() {
    const read = toWords(this.draft);
    const sign = findShellSign(this.draft);
    if (this.draft.line.trim() === '' || !('words' in read))
      return html`<p>No shell reads it: it is split by blanks, and quotation marks keep words together.</p>`;
    return html`<p>
        No shell reads it. Its arguments:
        <span class="words"
          >${read.words.map((word) => html`<code>${word === '' ? '""' : word}</code> `)}</span
        >
      </p>
      ${
        sign === null
          ? nothing
          : html`<p class="doubt">
              ${icon('warning', 12)} <code>${sign}</code> is passed to the program as text. If a shell is to
              act on it, choose “Shell line”.
            </p>`
      }`;
  }

  #renderPlace() {
    const { project, experiment } = this.draft;
    return html`<section class="panel" aria-labelledby="heading-place">
      <h2 id="heading-place">Where it belongs</h2>
      <div class="columns">
        ${renderWithList('project', 'Project', project, this.projects, errorsOf(this, 'project'), (value) => this.change({ project: value }))}
        ${renderWithList('experiment', 'Experiment', experiment, this.experiments, errorsOf(this, 'experiment'), (value) => this.change({ experiment: value }))}
      </div>
    </section>`;
  }

  #renderDirectory() {
    const look: FieldLook = {
      id: 'working_dir',
      label: 'Working directory',
      isOptional: true,
      hint:
        this.draft.runner === 'process'
          ? 'An absolute path on the node. Empty: the job gets a new, empty directory of its own.'
          : 'An absolute path on the node, which the agent must allow. Empty: a new, empty directory. To send files, use svc submit --upload.',
      errors: [...errorsOf(this, 'working_dir'), ...errorsOf(this, 'snapshot')],
    };
    return renderText(look, this.draft.workingDir, (workingDir) => this.change({ workingDir }), {
      isCode: true,
      placeholder: '/data/project',
    });
  }

  #renderSnapshot(snapshot: string) {
    return html`<div class="field">
      <span class="label">Source files</span>
      <p class="kept">
        The uploaded files of the earlier job, <code title=${snapshot}>${snapshot.slice(0, 12)}</code>
        <button class="button" type="button" @click=${() => this.change({ snapshot: null })}>
          Use a directory instead
        </button>
      </p>
      ${renderErrors({ id: 'snapshot', label: 'Source files', errors: errorsOf(this, 'snapshot') })}
    </div>`;
  }

  #renderEnv() {
    const missing = this.uncopied.filter((name) =>
      this.draft.env.some((pair) => pair.name === name && pair.value === ''),
    );
    return html`<section class="panel" aria-labelledby="heading-env">
      <h2 id="heading-env">Environment variables</h2>
      ${
        missing.length === 0
          ? nothing
          : html`<p class="doubt">
              ${icon('warning', 12)} The ${missing.length === 1 ? 'value' : 'values'} of ${missing.join(', ')}
              could not be copied, because ${missing.length === 1 ? 'it is' : 'they are'} hidden: type
              ${missing.length === 1 ? 'it' : 'them'} again.
            </p>`
      }
      ${renderPairs('variable', this.draft.env, errorsOf(this, 'env'), (env) => this.change({ env }), true)}
    </section>`;
  }

  #renderEnd() {
    const { body, issues } = toSubmit(this.draft, this.#runner);
    const isReady = body.command.length > 0;
    const names = Object.keys(body.env ?? {});
    return html`<div class="panel command">
      <h2>The same from a terminal</h2>
      ${
        isReady
          ? html`<svc-code .text=${this.#toCommand()}></svc-code>`
          : html`<p class="hint">The command to copy appears here once there is something to run.</p>`
      }
      ${
        names.length === 0
          ? nothing
          : html`<p class="hint">
              <code>--env NAME</code> takes the value from the shell: set ${names.join(', ')} there. No value
              belongs on a command line.
            </p>`
      }
      ${issues.length > 0 && isReady ? html`<p class="hint">Some fields are not complete yet.</p>` : nothing}
      ${this.#renderProblem()}
      <button class="button primary" type="submit" aria-disabled=${this.busy ? 'true' : 'false'}>
        ${this.busy ? 'Submitting…' : 'Submit the job'}
      </button>
      <p class="hint"><kbd>Ctrl</kbd> <kbd>Enter</kbd> submits from any field.</p>
    </div>`;
  }

  /** The files of the earlier job are fetched first, as `svc submit` uploads a directory. */
  #toCommand(): string {
    const { body } = toSubmit(this.draft, this.#runner);
    if (body.snapshot === undefined) return toCommandLine(toSubmitCommand(body));
    const words = toSubmitCommand(body).flatMap((word) =>
      word === '--upload' ? [word, this.source] : [word],
    );
    return `${toCommandLine(['svc', 'code', this.source, '-o', this.source])}\n${toCommandLine(words)}`;
  }

  #renderProblem() {
    const others = otherIssuesOf(this);
    const count = this.issues.length - others.length;
    if (this.problem === '' && this.issues.length === 0) return nothing;
    return html`<div class="problem" role="alert" tabindex="-1">
      ${this.problem === '' ? nothing : html`<p>${this.problem} What you typed is kept.</p>`}
      ${count === 0 ? nothing : html`<p>${plural(count, 'field')} need${count === 1 ? 's' : ''} a change, as said beside ${count === 1 ? 'it' : 'them'}.</p>`}
      ${others.map(({ path, message }) => html`<p><code>${path}</code> ${message}</p>`)}
    </div>`;
  }

  change(change: Partial<JobDraft>): void {
    this.dispatchEvent(new CustomEvent('svc-draft', { detail: { ...this.draft, ...change } }));
  }

  readonly #onSubmit = (event: Event): void => {
    event.preventDefault();
    if (!this.busy) this.dispatchEvent(new CustomEvent('svc-submit'));
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!this.busy) this.dispatchEvent(new CustomEvent('svc-submit'));
  };
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-job-form': SvcJobForm;
  }
}
