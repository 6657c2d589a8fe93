import type { AttemptKey } from '@svc/contract';
import { access, mkdir, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import {
  ensureDurableDir,
  isMissing,
  listNames,
  loadJson,
  syncDir,
  unlessMissing,
  writeAtomic,
  writeDurable,
} from './durable-file.js';
import type { ExpectedResult } from './eval-result.js';
import { EXIT_FILE, toEnded, type Ended } from './shim-protocol.js';

/** Its presence says that the server has all of the attempt. */
export const FORGOTTEN_FILE = 'forgotten.json';

/** The files of one attempt: `<state dir>/jobs/{job_id}/attempt-{n}/`. */
export interface RunPaths {
  readonly dir: string;
  /** What was accepted, durable before `accepted` is said. */
  readonly plan: string;
  /** What the runner needs to find the attempt again. There from just before the start. */
  readonly state: string;
  /** For people and for the job itself. */
  readonly runtime: string;
  readonly exit: string;
  /** There once the server has the end, the whole log and what was spooled. */
  readonly forgotten: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Where an evaluation leaves its result, unless its job says otherwise. */
  readonly result: string;
  readonly work: string;
  /** What its processes could not report themselves; theirs to write, ours to deliver. */
  readonly spool: string;
  /** How far each spool file is delivered. */
  readonly spoolMarks: string;
  /** Spooled records that the server refused, with the reason. */
  readonly refused: string;
}

/** `plan.json`: the dispatch, with the names of its environment variables in place of their values. */
export interface SavedPlan extends AttemptKey {
  readonly run_id: string | null;
  readonly name: string;
  readonly runner: string;
  readonly plan: unknown;
  readonly env_names: readonly string[];
  readonly working_dir: string;
  readonly gpu_indices: readonly number[];
  readonly kill_grace_ms: number;
  /** null: a training, which leaves none. */
  readonly result: ExpectedResult | null;
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

export function toRunPaths(jobsDir: string, { job_id, attempt }: AttemptKey): RunPaths {
  const dir = path.join(jobsDir, job_id, `attempt-${attempt}`);
  const at = (name: string) => path.join(dir, name);
  return {
    dir,
    plan: at('plan.json'),
    state: at('state.json'),
    runtime: at('runtime.json'),
    exit: at(EXIT_FILE),
    forgotten: at(FORGOTTEN_FILE),
    stdout: at('stdout'),
    stderr: at('stderr'),
    result: at('eval_result.json'),
    work: at('work'),
    spool: at('spool'),
    spoolMarks: at('spool.json'),
    refused: at('refused.jsonl'),
  };
}

/** Makes the directory and the plan in it durable. What an earlier life of the same attempt left is moved aside. */
export async function createRunDir(paths: RunPaths, plan: SavedPlan): Promise<void> {
  if (await exists(paths.dir)) await rename(paths.dir, `${paths.dir}.before-${plan.accepted_at}`);
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

/** Every attempt on the disk that the server has not had forgotten. */
export async function loadAttempts(jobsDir: string): Promise<FoundAttempt[]> {
  const found: FoundAttempt[] = [];
  for (const job_id of await listNames(jobsDir)) {
    for (const name of await listNames(path.join(jobsDir, job_id))) {
      const attempt = Number(/^attempt-(\d+)$/.exec(name)?.[1]);
      const paths = toRunPaths(jobsDir, { job_id, attempt });
      if (attempt >= 1 && !(await exists(paths.forgotten)))
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
  return { key, paths, plan, state, ended };
}

/** In place of a plan that cannot be read, so that the attempt is told of all the same. */
export function toUnknownPlan(key: AttemptKey, paths: RunPaths): SavedPlan {
  const unknown = { run_id: null, name: '', runner: '', plan: {}, env_names: [], gpu_indices: [] };
  return { ...key, ...unknown, working_dir: paths.work, kill_grace_ms: 10_000, result: null, accepted_at: 0 };
}

/** How the attempt ended, when that is on the disk. */
export async function loadEnd(paths: RunPaths): Promise<Ended | null> {
  return toEnded(await loadJson(paths.exit));
}

export function saveForgotten(paths: RunPaths, at: number): Promise<void> {
  return writeAtomic(paths.forgotten, { forgotten_at: at });
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

function unlessInUse(error: NodeJS.ErrnoException): void {
  if (!isMissing(error) && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
