import type { Issue } from '@svc/contract';
import type { JobDraft } from '../data/job-draft.js';
import type { NodeRecord } from '../data/nodes.js';
import type { Runner } from '../data/runners.js';

/** What the parts of the form for a new job draw, and how they tell of a change. */
export interface JobFormView {
  readonly draft: JobDraft;
  readonly issues: readonly Issue[];
  readonly runners: readonly Runner[];
  readonly nodes: readonly NodeRecord[];
  change(change: Partial<JobDraft>): void;
}

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

/** What was found wrong with the field or a part of it. */
export function errorsOf({ issues }: Pick<JobFormView, 'issues'>, field: string): string[] {
  return issues
    .filter(({ path }) => isBelow(path, field))
    .map(({ path, message }) => toText(path, field, message));
}

/** What was found wrong with labels that have no field of their own. */
export function labelErrorsOf({ issues }: Pick<JobFormView, 'issues'>): string[] {
  const own = ['node_selector.gpu_model', 'node_selector.node'];
  return errorsOf({ issues: issues.filter(({ path }) => !own.includes(path)) }, 'node_selector');
}

/** What no field shows. */
export function otherIssuesOf({ issues }: Pick<JobFormView, 'issues'>): Issue[] {
  return issues.filter(({ path }) => !FIELDS.some((field) => isBelow(path, field)));
}

/** The fields that show what is found wrong with a part of the draft. */
const FIELDS_OF: Readonly<Record<keyof JobDraft, readonly string[]>> = {
  mode: ['command'],
  line: ['command'],
  shell: ['command'],
  name: ['name'],
  workingDir: ['working_dir'],
  snapshot: ['snapshot', 'working_dir'],
  project: ['project'],
  experiment: ['experiment'],
  runner: ['runner', 'runner_options', 'image', 'working_dir'],
  options: ['runner_options', 'image'],
  furtherOptions: ['runner_options'],
  isCpuOnly: ['resources', 'node_selector.gpu_model'],
  gpus: ['resources'],
  gpuModel: ['node_selector.gpu_model'],
  node: ['node_selector.node'],
  labels: ['node_selector'],
  priority: ['priority'],
  attempts: ['max_attempts'],
  env: ['env'],
  type: ['type'],
};

/** Those of fields that have not changed: what was said of another value is no longer true of it. */
export function issuesLeft(issues: readonly Issue[], before: JobDraft, now: JobDraft): Issue[] {
  const keys = Object.keys(FIELDS_OF) as (keyof JobDraft)[];
  const changed = keys.filter((key) => before[key] !== now[key]).flatMap((key) => FIELDS_OF[key]);
  return issues.filter(({ path }) => !changed.some((field) => isBelow(path, field)));
}

function isBelow(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** Which part of the field is meant, where it is one. */
function toText(path: string, field: string, message: string): string {
  const part = path.slice(field.length).replace(/^\./, '');
  return part === '' ? message : `${part}: ${message}`;
}
