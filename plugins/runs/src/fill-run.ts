import { MAX_TAGS, toId, type BodyOf, type Job, type Run, type routes } from '@svc/contract';
import { toJson, type Tx } from '@svc/kernel';
import type { ResolvedPlacement } from '@svc/plugin-projects';
import type { RunParts } from './run-parts.js';
import { fromRow } from './run-row.js';
import { findWholeRun, lockRow, placeRuns, updateRun } from './run-store.js';

export type RunWishes = NonNullable<BodyOf<typeof routes.updateRun>['fill']>;
/** The fields that were not changed, with their present values. */
export type Kept = Record<string, string>;
export interface Filled {
  readonly kept: Kept;
  /** False when the config had no room for that of the wishes. */
  readonly isConfigTaken: boolean;
}

/** Of the config with what a fill adds, as JSON; the SDKs send none that is larger. */
export const CONFIG_BYTES = 512 * 1024;

/**
 * Sets those of the wishes that nobody has decided yet: the name if it is a default name, the project and experiment if there is none (for
 * the job and all of its runs), further tags, and names of the config, all of them or none. The run must exist.
 */
export async function fillRun(
  parts: RunParts,
  tx: Tx,
  id: string,
  { name, tags = [], config, ...place }: RunWishes,
  at: number,
): Promise<Filled> {
  const run = fromRow((await lockRow(tx, id))!);
  const job = run.job_id === null ? null : await parts.jobs.lock(tx, run.job_id);
  const kept = await fillPlace(parts, tx, run, job, place, at);
  const isNamed = name !== undefined && name !== run.name;
  if (isNamed && !hasDefaultName(run, job)) kept['name'] = run.name;
  const all = [...new Set([...run.tags, ...tags])].slice(0, MAX_TAGS);
  const filled = config && fillConfig((await findWholeRun(tx, id))!.config, config);
  await updateRun(tx, id, {
    ...(isNamed && !kept['name'] && { name }),
    ...(all.length > run.tags.length && { tags: all }),
    ...(filled && { config: filled }),
  });
  return { kept, isConfigTaken: filled !== null };
}

/** null when it would be too large. */
function fillConfig(config: object, wishes: object): object | null {
  const filled = { ...wishes, ...config };
  const isGrown = Object.keys(filled).length > Object.keys(config).length;
  return isGrown && Buffer.byteLength(toJson(filled)) > CONFIG_BYTES ? null : filled;
}

/** The name of a run without a job that was created without a name. */
export function defaultName(runId: string): string {
  return `run-${runId.slice(-8).toLowerCase()}`;
}

/** Whether nobody has chosen the name: it is that of the program or the script, or made from the run's id. */
function hasDefaultName({ id, name }: Run, job: Job | null): boolean {
  if (job === null) return name === defaultName(id);
  return name === job.name && job.command.some((word) => word.split('/').at(-1) === name);
}

async function fillPlace(
  { projects, jobs }: RunParts,
  tx: Tx,
  run: Run,
  job: Job | null,
  wishes: Pick<RunWishes, 'project' | 'experiment'>,
  at: number,
): Promise<Kept> {
  const { project_id, experiment_id } = job ?? run;
  const place = { project: project_id ?? wishes.project, experiment: experiment_id ?? wishes.experiment };
  const resolved = await projects.resolve(tx, place, at);
  if (resolved.project_id !== project_id || resolved.experiment_id !== experiment_id) {
    if (job) await jobs.place(tx, job.id, resolved);
    await placeRuns(tx, job ? { job_id: job.id } : { id: run.id }, resolved);
  }
  return toKept(wishes, resolved);
}

function toKept(wishes: Pick<RunWishes, 'project' | 'experiment'>, stands: ResolvedPlacement): Kept {
  const kept: Kept = {};
  for (const level of ['project', 'experiment'] as const) {
    const [wish, name] = [wishes[level], stands[level]];
    const isSame = wish === undefined || wish === name || toId(level, wish) === stands[`${level}_id`];
    if (!isSame && name !== null) kept[level] = name;
  }
  return kept;
}
