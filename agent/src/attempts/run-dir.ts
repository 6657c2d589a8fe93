import type { AttemptKey } from '@svc/contract';
import { access, mkdir, readdir, rename, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { toEnded, type Ended } from '../core/attempt-end.js';
import type { AttemptNotes } from '../core/attempt-hooks.js';
import {
  ensureDurableDir,
  isMissing,
  listNames,
  loadJson,
  syncDir,
  unlessMissing,
  writeAtomic,
  writeDurable,
} from '../core/durable-file.js';
import { removeTree } from '../core/remove-tree.js';
import { toRunPaths, type RunPaths } from '../core/run-paths.js';

/** `plan.json`: the dispatch, with the names of its environment variables in place of their values. */
export interface SavedPlan extends AttemptKey {
  readonly run_id: string | null;
  readonly name: string;
  readonly runner: string;
  readonly plan: unknown;
  readonly env_names: readonly string[];
  readonly working_dir: string;
  /** The source tree that is unpacked in `working_dir` before the start; null: none. */
  readonly snapshot: string | null;
  readonly gpu_indices: readonly number[];
  readonly kill_grace_ms: number;
  /** Of the host when it was accepted. */
  readonly boot_id: string;
  /** What plugins noted before the start. */
  readonly notes: AttemptNotes;
  readonly accepted_at: number;
}

/** `state.json`: the runner's own state in an envelope. */
export interface SavedState {
  readonly runner: string;
  readonly state_version: number;
  readonly boot_id: string;
  readonly state: unknown;
}

/** `runtime.json`. */
export interface Runtime extends AttemptKey {
  readonly run_id: string | null;
  readonly node_id: string;
  readonly node: string;
  readonly runner: string;
  readonly pid: number | null;
  readonly command: readonly string[] | null;
  readonly working_dir: string;
  readonly gpu_indices: readonly number[];
  readonly started_at: number;
}

/** Moves aside what an earlier life of the same attempt left: its end must not be taken for that of the new one. */
export async function setAsideRunDir(paths: RunPaths, at: number): Promise<void> {
  if (await exists(paths.dir)) await rename(paths.dir, `${paths.dir}.before-${at}`);
}

/** Makes the directory and the plan in it durable. */
export async function createRunDir(paths: RunPaths, plan: SavedPlan): Promise<void> {
  const jobDir = path.dirname(paths.dir);
  const jobsDir = path.dirname(jobDir);
  await ensureDurableDir(jobsDir);
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
  await mkdir(paths.spool, { mode: 0o700 });
  if (plan.working_dir === paths.work) await mkdir(paths.work, { mode: 0o700 });
  // At once: a disk that syncs several takes little longer than for one.
  await Promise.all([writeDurable(paths.plan, plan), syncDir(jobDir), syncDir(jobsDir)]);
}

/** What a restarted agent finds of an attempt; null: it is not there, or cannot be read, as after a loss of power. */
export interface FoundAttempt {
  readonly key: AttemptKey;
  readonly paths: RunPaths;
  readonly plan: SavedPlan | null;
  readonly state: SavedState | null;
  readonly ended: Ended | null;
}

/** Every attempt on the disk that is not released. */
export async function loadAttempts(jobsDir: string): Promise<FoundAttempt[]> {
  const found: FoundAttempt[] = [];
  for (const job_id of await listNames(jobsDir)) {
    for (const name of await listNames(path.join(jobsDir, job_id))) {
      const attempt = Number(/^attempt-(\d+)$/.exec(name)?.[1]);
      const paths = toRunPaths(jobsDir, { job_id, attempt });
      if (attempt >= 1 && !(await exists(paths.released)))
        found.push(await loadAttempt({ job_id, attempt }, paths));
    }
  }
  return found;
}

async function loadAttempt(key: AttemptKey, paths: RunPaths): Promise<FoundAttempt> {
  const [plan, state, ended] = await Promise.all([
    loadJson<SavedPlan>(paths.plan),
    loadJson<SavedState>(paths.state),
    loadEnd(paths),
  ]);
  return { key, paths, plan: plan && toPresentPlan(plan), state, ended };
}

/** An agent before plugins kept what the evaluations plugin notes in a field of its own; there were no snapshots then. */
function toPresentPlan(plan: SavedPlan & { result?: unknown }): SavedPlan {
  const { notes = { evaluations: plan.result ?? null }, snapshot = null, boot_id = '' } = plan;
  return { ...plan, notes, snapshot, boot_id };
}

/** In place of a plan that cannot be read, so that the attempt is told of all the same. */
export function toUnknownPlan(key: AttemptKey, paths: RunPaths): SavedPlan {
  const unknown = { run_id: null, name: '', runner: '', plan: {}, env_names: [], gpu_indices: [] };
  const around = { snapshot: null, boot_id: '', kill_grace_ms: 10_000, notes: {}, accepted_at: 0 };
  return { ...key, ...unknown, ...around, working_dir: paths.work };
}

/** How the attempt ended, when that is on the disk. */
export async function loadEnd(paths: RunPaths): Promise<Ended | null> {
  return toEnded(await loadJson(paths.exit));
}

export function saveReleased(paths: RunPaths, at: number): Promise<void> {
  return writeAtomic(paths.released, { forgotten_at: at });
}

/** The agent's own files, which are there before anything is started. */
const BEFORE_START = /^(?:(?:plan|cut)\.json|(?:plan|cut|state)\.json\.\d+\.tmp)$/;

/**
 * Removes the directory of an attempt that never started, and that of its job if nothing else is in it. False, and nothing is
 * removed, when anything is there that comes with the start or after it, readable or not. Must hold: a directory goes only
 * when it is empty, so nothing that a job saved can go with it.
 */
export async function removeIfUntouched(paths: RunPaths): Promise<boolean> {
  const entries = (await readdir(paths.dir, { withFileTypes: true }).catch(unlessMissing)) ?? [];
  const dirs = entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(paths.dir, name));
  const files = entries.filter((entry) => !entry.isDirectory());
  if (!files.every((entry) => entry.isFile() && BEFORE_START.test(entry.name))) return false;
  for (const dir of dirs) if ((await listNames(dir)).length > 0) return false;
  for (const { name } of files) await unlink(path.join(paths.dir, name)).catch(unlessMissing);
  for (const dir of [...dirs, paths.dir, path.dirname(paths.dir)]) await rmdir(dir).catch(unlessInUse);
  return true;
}

/** As `removeIfUntouched`, for an attempt that is known not to have started. False when it has written to its log nevertheless. */
export async function removeUnlessWritten(paths: RunPaths): Promise<boolean> {
  for (const file of [paths.stdout, paths.stderr])
    if ((await stat(file).catch(unlessMissing))?.size) return false;
  await removeTree(paths.dir);
  await rmdir(path.dirname(paths.dir)).catch(unlessInUse);
  return true;
}

function unlessInUse(error: NodeJS.ErrnoException): void {
  if (!isMissing(error) && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
