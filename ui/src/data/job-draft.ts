import { parseCommandLine, toCommandLine, toJobName } from '@svc/client';
import type { Issue, Job, JobSubmit } from '@svc/contract';
import {
  parseJson,
  parseOption,
  takesFurther,
  toOptionFields,
  toOptionText,
  type OptionTexts,
} from './runner-options.js';
import type { Runner } from './runners.js';

/** A name and a value as they are typed. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

/** What stands in the form for a new job: texts, until it is sent. */
export interface JobDraft {
  /** `arguments`: the line is split into program and arguments. `shell`: a shell runs it. */
  readonly mode: 'arguments' | 'shell';
  readonly line: string;
  /** The program that runs a line of the mode `shell` with `-c`. */
  readonly shell: string;
  readonly name: string;
  readonly workingDir: string;
  /** Source files of an earlier job, in place of a working directory. */
  readonly snapshot: string | null;
  readonly project: string;
  readonly experiment: string;
  readonly runner: string;
  readonly options: OptionTexts;
  /** Options that the schema of the runner does not name, as a JSON object. */
  readonly furtherOptions: string;
  readonly isCpuOnly: boolean;
  readonly gpus: string;
  readonly gpuModel: string;
  readonly node: string;
  readonly labels: readonly Pair[];
  readonly priority: string;
  readonly attempts: string;
  readonly env: readonly Pair[];
  readonly type: Job['type'];
}

export const EMPTY_DRAFT: JobDraft = {
  mode: 'arguments',
  line: '',
  shell: 'sh',
  name: '',
  workingDir: '',
  snapshot: null,
  project: '',
  experiment: '',
  runner: 'process',
  options: {},
  furtherOptions: '',
  isCpuOnly: false,
  gpus: '1',
  gpuModel: '',
  node: '',
  labels: [],
  priority: '0',
  attempts: '1',
  env: [],
  type: 'TRAIN',
};

/** What the server writes in place of a value that the caller may not see. */
export const HIDDEN_VALUE = '***';
const SHELLS = /^(.*\/)?(ba|da|z|k)?sh$/;

/** The draft of a job that is like another one. A value that is hidden cannot be copied: it is empty. `place`: the names that its project and experiment have now. */
export function toDraft(
  job: Job,
  place: { readonly project: string; readonly experiment: string },
  runners: readonly Runner[],
): JobDraft {
  const { command, node_selector: selector } = job;
  const isShell = command.length === 3 && SHELLS.test(command[0]!) && command[1] === '-c';
  const { gpu_model = '', node = '', ...labels } = selector;
  return {
    ...EMPTY_DRAFT,
    ...place,
    mode: isShell ? 'shell' : 'arguments',
    line: isShell ? command[2]! : toCommandLine(command),
    shell: isShell ? command[0]! : 'sh',
    name: job.name,
    workingDir: job.working_dir ?? '',
    snapshot: job.snapshot,
    runner: job.runner,
    ...toOptionTexts(
      job,
      runners.find(({ name }) => name === job.runner),
    ),
    isCpuOnly: job.resources.gpu === 0,
    gpus: String(job.resources.gpu || 1),
    gpuModel: gpu_model,
    node,
    labels: toPairs(labels),
    priority: String(job.priority),
    attempts: String(job.max_attempts),
    env: toPairs(job.env).map(({ name, value }) => ({ name, value: value === HIDDEN_VALUE ? '' : value })),
    type: job.type,
  };
}

function toOptionTexts({ runner_options: given }: Job, runner: Runner | undefined) {
  const fields = runner ? toOptionFields(runner) : [];
  const named = new Set(fields.map(({ name }) => name));
  const further = Object.entries(given).filter(([name]) => !named.has(name));
  return {
    options: Object.fromEntries(
      fields.map((field) => [field.name, toOptionText(field, given[field.name as never])]),
    ),
    furtherOptions: further.length === 0 ? '' : JSON.stringify(Object.fromEntries(further)),
  };
}

function toPairs(values: Readonly<Record<string, string>>): Pair[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/** The words that the job will run, or what is wrong with the line. */
export function toWords({ mode, line, shell }: JobDraft): { words: string[] } | { flaw: string } {
  if (line.trim() === '') return { flaw: 'must name a program' };
  return mode === 'shell' ? { words: [shell, '-c', line] } : parseCommandLine(line);
}

/** Signs that a shell would act on, and that are plain text in a list of arguments; null: there are none. */
export function findShellSign({ mode, line }: JobDraft): string | null {
  if (mode === 'shell') return null;
  const bare = line.replace(/'[^']*'|"[^"]*"|\\./gs, '');
  return /&&|\|\||[|;&<>*`]|\$(?=\w)|\$[({]/.exec(bare)?.[0] ?? null;
}

/** The name that the job gets when none is typed: that of its script or program. */
export function toDefaultName(draft: JobDraft): string {
  const read = toWords(draft);
  if (!('words' in read)) return '';
  const program = read.words[0] ?? '';
  return toJobName(read.words) ?? program.slice(program.lastIndexOf('/') + 1);
}

/** The body that submits it, and what is wrong with it as far as it can be told here; the server checks the rest. */
export function toSubmit(
  draft: JobDraft,
  runner: Runner | undefined,
): { readonly body: JobSubmit; readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const attempt = <T>(path: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      issues.push({ path, message: (error as Error).message });
      return undefined;
    }
  };
  const read = toWords(draft);
  if ('flaw' in read) issues.push({ path: 'command', message: read.flaw });
  const gpu = draft.isCpuOnly ? 0 : attempt('resources.gpu', () => toWhole(draft.gpus));
  const options = toRunnerOptions(draft, runner, attempt);
  const env = attempt('env', () => toRecord(draft.env, 'variable')) ?? {};
  const labels = attempt('node_selector', () => toRecord(draft.labels, 'label')) ?? {};
  const selector = {
    ...labels,
    ...(draft.gpuModel !== '' && !draft.isCpuOnly && { gpu_model: draft.gpuModel }),
    ...(draft.node !== '' && { node: draft.node }),
  };
  const name = draft.name.trim() || toDefaultName(draft);
  const body: JobSubmit = {
    command: 'words' in read ? read.words : [],
    ...(name !== '' && { name }),
    ...(draft.type !== 'TRAIN' && { type: draft.type }),
    ...(draft.snapshot !== null
      ? { snapshot: draft.snapshot }
      : draft.workingDir !== '' && { working_dir: draft.workingDir }),
    runner: draft.runner,
    ...(Object.keys(options).length > 0 && { runner_options: options }),
    resources: gpu === 0 ? { cpu_only: true } : { gpu: gpu ?? 1 },
    priority: attempt('priority', () => toWhole(draft.priority)) ?? 0,
    max_attempts: attempt('max_attempts', () => toWhole(draft.attempts)) ?? 1,
    ...(draft.project.trim() !== '' && { project: draft.project.trim() }),
    ...(draft.experiment.trim() !== '' && { experiment: draft.experiment.trim() }),
    ...(Object.keys(selector).length > 0 && { node_selector: selector }),
    ...(Object.keys(env).length > 0 && { env }),
  };
  return { body, issues };
}

function toRunnerOptions(
  draft: JobDraft,
  runner: Runner | undefined,
  attempt: <T>(path: string, read: () => T) => T | undefined,
): Record<string, unknown> {
  const fields = runner ? toOptionFields(runner) : [];
  const named = fields.flatMap((field) => {
    const path = `runner_options.${field.name}`;
    const value = attempt(path, () => parseOption(field, draft.options[field.name] ?? ''));
    return value === undefined ? [] : [[field.name, value] as const];
  });
  const isFurther = (!runner || takesFurther(runner)) && draft.furtherOptions.trim() !== '';
  const further = isFurther ? attempt('runner_options', () => toObject(draft.furtherOptions)) : {};
  return { ...further, ...Object.fromEntries(named) };
}

function toObject(text: string): object {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('must be a JSON object');
  return value;
}

function toWhole(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isInteger(number)) throw new Error('must be a whole number');
  return number;
}

/** A row without a name and a value is as good as none. */
function toRecord(pairs: readonly Pair[], noun: string): Record<string, string> {
  const given = pairs.filter(({ name, value }) => name !== '' || value !== '');
  const names = given.map(({ name }) => name);
  if (names.includes('')) throw new Error(`each ${noun} needs a name`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the ${noun} ${twice} is there twice`);
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}
