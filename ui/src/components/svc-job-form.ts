import { toCommandLine, toSubmitCommand } from '@svc/client';
import type { Issue } from '@svc/contract';
import { LitElement, html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import {
  findShellSign,
  toDefaultName,
  toSubmit,
  toWords,
  type JobDraft,
  type Pair,
} from '../data/job-draft.js';
import type { NodeRecord } from '../data/nodes.js';
import { takesFurther, toOptionFields, type OptionField } from '../data/runner-options.js';
import type { Runner } from '../data/runners.js';
import { formatMegabytes, plural } from '../format.js';
import { formStyles } from '../styles/form-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { describedBy, isInvalid, renderErrors, renderField, type FieldLook } from './form-parts.js';
import { icon } from './icons.js';
import { jobFormStyles } from './job-form-styles.js';
import './svc-code.js';
import './svc-pairs.js';

/** The fields of whose names the server's findings are shown beside them; all others are named above the form. */
const FIELDS = [
  'command',
  'name',
  'working_dir',
  'snapshot',
  'project',
  'experiment',
  'runner',
  'resources',
  'node_selector',
  'priority',
  'max_attempts',
  'env',
  'runner_options',
  'image',
];

export interface Place {
  readonly name: string;
}

/** What a new job is to be. Fires `svc-draft` with each change, and `svc-submit` when it is to be sent. */
@customElement('svc-job-form')
export class SvcJobForm extends LitElement {
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
        ${this.#renderCommand()} ${this.#renderResources()} ${this.#renderRunner()} ${this.#renderPlace()}
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
    const look: FieldLook = { id: 'command', label: 'Command', errors: this.#errorsOf('command'), hint: '' };
    const isShell = mode === 'shell';
    return html`<section class="panel" aria-labelledby="heading-command">
      <h2 id="heading-command">What runs</h2>
      <div class="field">
        <div class="over">
          <label for="command">Command</label>
          <div class="segmented" role="group" aria-label="How the command is read">
            ${this.#renderChoice('Program and arguments', !isShell, () => this.#change({ mode: 'arguments' }))}
            ${this.#renderChoice('Shell line', isShell, () => this.#change({ mode: 'shell' }))}
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
          @input=${(event: Event) => this.#change({ line: textOf(event) })}
        ></textarea>
        ${renderErrors(look)}
        <div class="hint" id="command-hint">
          ${isShell ? html`<p>Runs as <code>${shell} -c</code> with this line: pipes, variables and && work.</p>` : this.#renderWords()}
        </div>
      </div>
      ${this.#renderText({ id: 'name', label: 'Name', isOptional: true, errors: this.#errorsOf('name') }, this.draft.name, (name) => this.#change({ name }), { placeholder: toDefaultName(this.draft), maxLength: 200 })}
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

  #renderResources() {
    const { isCpuOnly, gpus, gpuModel, node, priority, attempts } = this.draft;
    return html`<section class="panel" aria-labelledby="heading-resources">
      <h2 id="heading-resources">Resources</h2>
      <div class="columns">
        <div class="field">
          <span class="label" id="device">Runs on</span>
          <div class="device">
            <div class="segmented" role="group" aria-labelledby="device">
              ${this.#renderChoice('GPU', !isCpuOnly, () => this.#change({ isCpuOnly: false }))}
              ${this.#renderChoice('CPU only', isCpuOnly, () => this.#change({ isCpuOnly: true }))}
            </div>
            ${
              isCpuOnly
                ? nothing
                : html`<input
                    class="input count"
                    type="number"
                    min="1"
                    max="1024"
                    aria-label="Number of GPUs"
                    aria-invalid=${this.#errorsOf('resources').length > 0 ? 'true' : 'false'}
                    aria-describedby="resources-hint"
                    .value=${live(gpus)}
                    @input=${(event: Event) => this.#change({ gpus: textOf(event) })}
                  />`
            }
          </div>
          ${renderErrors({ id: 'resources', label: 'GPUs', errors: this.#errorsOf('resources') })}
          <p class="hint" id="resources-hint">${this.#describeGpus()}</p>
        </div>
        ${
          isCpuOnly
            ? nothing
            : this.#renderSelect(
                {
                  id: 'gpu_model',
                  label: 'GPU model',
                  errors: this.#errorsOf('node_selector.gpu_model'),
                },
                gpuModel,
                [['', 'Any'], ...listModels(this.nodes)],
                (value) => this.#change({ gpuModel: value }),
              )
        }
        ${this.#renderSelect(
          { id: 'node', label: 'Node', errors: this.#errorsOf('node_selector.node') },
          node,
          [
            ['', 'Any that fits'],
            ...this.nodes.map(
              ({ name, status }) =>
                [name, status === 'ONLINE' ? name : `${name} (${status.toLowerCase()})`] as const,
            ),
          ],
          (value) => this.#change({ node: value }),
        )}
        ${this.#renderNumber({ id: 'priority', label: 'Priority', hint: 'From -1000 to 1000; higher runs first.', errors: this.#errorsOf('priority') }, priority, (text) => this.#change({ priority: text }))}
        ${this.#renderNumber({ id: 'max_attempts', label: 'Attempts', hint: 'More than 1: tried again by itself after a lost node or a signal, not after an error of the command or out of memory.', errors: this.#errorsOf('max_attempts') }, attempts, (text) => this.#change({ attempts: text }))}
      </div>
      <div class="field">
        <span class="label">Labels that the node must have <span class="optional">(optional)</span></span>
        ${this.#renderPairs('label', this.draft.labels, this.#labelErrors(), (labels) => this.#change({ labels }))}
      </div>
    </section>`;
  }

  #describeGpus(): string {
    const most = Math.max(
      0,
      ...this.nodes.filter(({ status }) => status === 'ONLINE').map(({ slots }) => slots.length),
    );
    if (this.draft.isCpuOnly) return 'The job takes no GPU.';
    if (this.nodes.length === 0) return 'No node has connected yet: the job waits until one does.';
    return most === 0
      ? 'No online node has a GPU: the job waits until one connects.'
      : `On one node; the largest that is online has ${plural(most, 'GPU')}.`;
  }

  #renderRunner() {
    const runner = this.#runner;
    const names = this.runners.map(({ name }) => [name, name] as const);
    const isKnown = names.some(([name]) => name === this.draft.runner);
    const shown = isKnown ? names : [...names, [this.draft.runner, this.draft.runner] as const];
    return html`<section class="panel" aria-labelledby="heading-runner">
      <h2 id="heading-runner">How it is started</h2>
      <div class="columns">
        ${this.#renderSelect(
          { id: 'runner', label: 'Runner', hint: this.#describeRunner(), errors: this.#errorsOf('runner') },
          this.draft.runner,
          shown,
          (value) => this.#change({ runner: value }),
        )}
        ${runner ? toOptionFields(runner).map((field) => this.#renderOption(field)) : nothing}
      </div>
      ${!runner || takesFurther(runner) ? this.#renderFurther() : nothing}
    </section>`;
  }

  /** Where the runner works now; nothing is said while it does everywhere. */
  #describeRunner(): string | undefined {
    const online = this.nodes.filter(({ status }) => status === 'ONLINE');
    const probes = online.map(({ name, runners }) => ({
      node: name,
      ...runners.find((one) => one.name === this.draft.runner),
    }));
    const able = probes.filter(({ available }) => available);
    if (online.length === 0 || able.length === online.length) return undefined;
    if (able.length > 0) return `Works on ${able.length} of ${plural(online.length, 'online node')}.`;
    const [first] = probes;
    return `No online node can use it now: ${first!.node}: ${first!.reason ?? 'its agent has no such runner'}.`;
  }

  #renderOption(field: OptionField): TemplateResult {
    const { name, kind, description, isRequired, choices } = field;
    const errors = [
      ...this.#errorsOf(`runner_options.${name}`),
      ...(name === 'image' ? this.#errorsOf('image') : []),
    ];
    const look: FieldLook = {
      id: `option-${name}`,
      label: toLabel(name),
      isOptional: !isRequired,
      ...(description !== '' && { hint: description }),
      errors,
    };
    const text = this.draft.options[name] ?? '';
    const onText = (value: string) => this.#change({ options: { ...this.draft.options, [name]: value } });
    if (kind === 'choice')
      return this.#renderSelect(
        look,
        text,
        [['', 'Default'], ...choices.map((one) => [one, one] as const)],
        onText,
      );
    if (kind === 'switch')
      return this.#renderSelect(
        look,
        text,
        [
          ['', 'Default'],
          ['true', 'Yes'],
          ['false', 'No'],
        ],
        onText,
      );
    if (kind === 'list' || kind === 'json')
      return this.#renderArea(look, text, onText, kind === 'list' ? 'one on each line' : 'JSON');
    return kind === 'number' ? this.#renderNumber(look, text, onText) : this.#renderText(look, text, onText);
  }

  #renderFurther() {
    const look: FieldLook = {
      id: 'further',
      label: 'Further options',
      isOptional: true,
      hint: 'A JSON object with options of the runner.',
      errors: this.issues.filter(({ path }) => path === 'runner_options').map(({ message }) => message),
    };
    return this.#renderArea(
      look,
      this.draft.furtherOptions,
      (furtherOptions) => this.#change({ furtherOptions }),
      '{"name": "value"}',
    );
  }

  #renderPlace() {
    const { project, experiment } = this.draft;
    return html`<section class="panel" aria-labelledby="heading-place">
      <h2 id="heading-place">Where it belongs</h2>
      <div class="columns">
        ${this.#renderWithList('project', 'Project', project, this.projects, (value) => this.#change({ project: value }))}
        ${this.#renderWithList('experiment', 'Experiment', experiment, this.experiments, (value) => this.#change({ experiment: value }))}
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
      errors: [...this.#errorsOf('working_dir'), ...this.#errorsOf('snapshot')],
    };
    return this.#renderText(look, this.draft.workingDir, (workingDir) => this.#change({ workingDir }), {
      isCode: true,
      placeholder: '/data/project',
    });
  }

  #renderSnapshot(snapshot: string) {
    return html`<div class="field">
      <span class="label">Source files</span>
      <p class="kept">
        The uploaded files of the earlier job, <code title=${snapshot}>${snapshot.slice(0, 12)}</code>
        <button class="button" type="button" @click=${() => this.#change({ snapshot: null })}>
          Use a directory instead
        </button>
      </p>
      ${renderErrors({ id: 'snapshot', label: 'Source files', errors: this.#errorsOf('snapshot') })}
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
      ${this.#renderPairs('variable', this.draft.env, this.#errorsOf('env'), (env) => this.#change({ env }), true)}
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
    const others = this.issues.filter(({ path }) => !FIELDS.some((field) => isBelow(path, field)));
    const count = this.issues.length - others.length;
    if (this.problem === '' && this.issues.length === 0) return nothing;
    return html`<div class="problem" role="alert" tabindex="-1">
      ${this.problem === '' ? nothing : html`<p>${this.problem} What you typed is kept.</p>`}
      ${count === 0 ? nothing : html`<p>${plural(count, 'field')} need${count === 1 ? 's' : ''} a change, as said beside ${count === 1 ? 'it' : 'them'}.</p>`}
      ${others.map(({ path, message }) => html`<p><code>${path}</code> ${message}</p>`)}
    </div>`;
  }

  #renderChoice(label: string, isOn: boolean, onClick: () => void) {
    return html`<button type="button" aria-pressed=${isOn ? 'true' : 'false'} @click=${onClick}>
      ${label}
    </button>`;
  }

  #renderText(
    look: FieldLook,
    text: string,
    onText: (text: string) => void,
    { placeholder = '', isCode = false, maxLength = 4096 } = {},
  ) {
    return renderField(
      look,
      html`<input
        id=${look.id}
        class="input ${isCode ? 'code' : ''}"
        placeholder=${placeholder}
        maxlength=${maxLength}
        spellcheck="false"
        autocomplete="off"
        aria-invalid=${isInvalid(look)}
        aria-describedby=${describedBy(look) || nothing}
        .value=${live(text)}
        @input=${(event: Event) => onText(textOf(event))}
      />`,
    );
  }

  #renderNumber(look: FieldLook, text: string, onText: (text: string) => void) {
    return renderField(
      look,
      html`<input
        id=${look.id}
        class="input"
        inputmode="decimal"
        autocomplete="off"
        aria-invalid=${isInvalid(look)}
        aria-describedby=${describedBy(look) || nothing}
        .value=${live(text)}
        @input=${(event: Event) => onText(textOf(event))}
      />`,
    );
  }

  #renderArea(look: FieldLook, text: string, onText: (text: string) => void, placeholder: string) {
    return renderField(
      look,
      html`<textarea
        id=${look.id}
        class="input code"
        rows=${Math.min(8, Math.max(2, text.split('\n').length))}
        placeholder=${placeholder}
        spellcheck="false"
        aria-invalid=${isInvalid(look)}
        aria-describedby=${describedBy(look) || nothing}
        .value=${live(text)}
        @input=${(event: Event) => onText(textOf(event))}
      ></textarea>`,
    );
  }

  /** A value that is no longer among the choices stays one. */
  #renderSelect(
    look: FieldLook,
    chosen: string,
    choices: readonly (readonly [value: string, label: string])[],
    onChoice: (value: string) => void,
  ) {
    const shown = choices.some(([value]) => value === chosen)
      ? choices
      : [...choices, [chosen, chosen] as const];
    return renderField(
      look,
      html`<select
        id=${look.id}
        class="select"
        aria-invalid=${isInvalid(look)}
        aria-describedby=${describedBy(look) || nothing}
        @change=${(event: Event) => onChoice(textOf(event))}
      >
        ${shown.map(([value, label]) => html`<option value=${value} .selected=${live(value === chosen)}>${label}</option>`)}
      </select>`,
    );
  }

  #renderWithList(
    id: string,
    label: string,
    text: string,
    places: readonly Place[],
    onText: (text: string) => void,
  ) {
    const look: FieldLook = {
      id,
      label,
      isOptional: true,
      hint: `A new name creates ${id === 'project' ? 'a project' : 'an experiment'}.`,
      errors: this.#errorsOf(id),
    };
    return renderField(
      look,
      html`<input
          id=${id}
          class="input"
          list="${id}-list"
          maxlength="200"
          spellcheck="false"
          autocomplete="off"
          aria-invalid=${isInvalid(look)}
          aria-describedby=${describedBy(look)}
          .value=${live(text)}
          @input=${(event: Event) => onText(textOf(event))}
        /><datalist id="${id}-list">
          ${places.map(({ name }) => html`<option value=${name}></option>`)}
        </datalist>`,
    );
  }

  #renderPairs(
    noun: string,
    pairs: readonly Pair[],
    errors: readonly string[],
    onPairs: (pairs: readonly Pair[]) => void,
    isCovered = false,
  ) {
    return html`<svc-pairs
      noun=${noun}
      .pairs=${pairs}
      .errors=${errors}
      ?covered=${isCovered}
      ?data-invalid=${errors.length > 0}
      @svc-pairs=${(event: CustomEvent<readonly Pair[]>) => onPairs(event.detail)}
    ></svc-pairs>`;
  }

  #errorsOf(field: string): string[] {
    return this.issues
      .filter(({ path }) => isBelow(path, field))
      .map(({ path, message }) => toText(path, field, message));
  }

  #labelErrors(): string[] {
    const own = ['node_selector.gpu_model', 'node_selector.node'];
    return this.issues
      .filter(({ path }) => isBelow(path, 'node_selector') && !own.includes(path))
      .map(({ path, message }) => toText(path, 'node_selector', message));
  }

  #change(change: Partial<JobDraft>): void {
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

function isBelow(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** Which part of the field is meant, where it is one. */
function toText(path: string, field: string, message: string): string {
  const part = path.slice(field.length).replace(/^\./, '');
  return part === '' ? message : `${part}: ${message}`;
}

function toLabel(name: string): string {
  const words = name.replace(/_mb$/, ' (MiB)').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Each model of the nodes, with its memory and how many nodes have it. */
function listModels(nodes: readonly NodeRecord[]): [value: string, label: string][] {
  const models = new Map<string, { memoryMb: number; nodes: Set<string> }>();
  for (const { id, slots } of nodes)
    for (const { model, memory_total_mb: memoryMb } of slots) {
      const seen = models.get(model) ?? { memoryMb: memoryMb ?? 0, nodes: new Set() };
      models.set(model, { memoryMb: Math.min(seen.memoryMb, memoryMb ?? 0), nodes: seen.nodes.add(id) });
    }
  return [...models]
    .sort(([, a], [, b]) => b.memoryMb - a.memoryMb)
    .map(([model, found]) => {
      const memory = found.memoryMb > 0 ? `, ${formatMegabytes(found.memoryMb)}` : '';
      return [model, `${model}${memory} (${plural(found.nodes.size, 'node')})`];
    });
}

function textOf(event: Event): string {
  return (event.target as HTMLInputElement).value;
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-job-form': SvcJobForm;
  }
}
