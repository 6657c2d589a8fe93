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

function isBelow(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** Which part of the field is meant, where it is one. */
function toText(path: string, field: string, message: string): string {
  const part = path.slice(field.length).replace(/^\./, '');
  return part === '' ? message : `${part}: ${message}`;
}
