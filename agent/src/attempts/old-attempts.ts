import type { AttemptKey } from '@svc/contract';
import { lstatSync, readdirSync, renameSync, rmdirSync, mkdirSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { unlessMissing } from '../core/durable-file.js';
import { toReason, type AgentLog } from '../core/log.js';
import { entriesOf, removeTree } from '../core/remove-tree.js';
import { RELEASED_FILE } from '../core/run-paths.js';
import type { Clock } from '../core/runner.js';

const KEEP_ATTEMPTS_DAYS = 7;
const DAY_MS = 24 * 60 * 60_000;
const LOOK_MS = 60 * 60_000;
const WORK = 'work';
const REMOVED = '.removed';
/** What `moveAside` makes. */
const ASIDE = /^attempt-[1-9]\d*(?:\.before-\d+)?\.\d+\.removed$/;

export interface OldAttemptsOptions {
  readonly jobsDir: string;
  /** Left out: 7. 0: as soon as the server has everything. */
  readonly keepDays?: number | undefined;
  isManaged(key: AttemptKey): boolean;
  readonly clock: Clock;
  readonly log: AgentLog;
}

/**
 * Removes what attempts leave on the disk, some days after the server has all of it. `work` is the job's own and may hold its
 * checkpoints: it goes only when it is empty. Must hold: nothing of a managed attempt is touched, and nothing
 * outside the directory of jobs, wherever links in there lead.
 */
export class OldAttempts {
  readonly #options: OldAttemptsOptions;
  readonly #keepMs: number;
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: OldAttemptsOptions) {
    this.#options = options;
    const { keepDays = KEEP_ATTEMPTS_DAYS } = options;
    if (!(keepDays >= 0)) throw new TypeError('attempts cannot be kept for less than 0 days');
    this.#keepMs = keepDays * DAY_MS;
  }

  /** Must hold: the attempts that an earlier agent left are managed by now. */
  start(): void {
    this.#timer = setInterval(() => this.#next(() => this.#look()), LOOK_MS).unref();
    this.#next(() => this.#look());
  }

  /** The server has all of the attempt. */
  released(dir: string): void {
    if (this.#keepMs === 0) this.#next(() => this.#removeIfOld(dir));
  }

  /** Resolves when nothing is being removed. */
  async settle(): Promise<void> {
    await this.#work;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.settle();
  }

  #next(task: () => Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#closed ? undefined : task()))
      .catch((error: unknown) =>
        this.#options.log.warn('old attempts cannot be removed', { reason: toReason(error) }),
      );
  }

  async #look(): Promise<void> {
    for await (const job of entriesOf(this.#options.jobsDir)) {
      if (!job.isDirectory()) continue;
      const jobDir = path.join(this.#options.jobsDir, job.name);
      for await (const attempt of entriesOf(jobDir)) {
        if (this.#closed) return;
        const dir = path.join(jobDir, attempt.name);
        if (!attempt.isDirectory()) continue;
        if (ASIDE.test(attempt.name)) await removeTree(dir);
        else await this.#removeIfOld(dir);
      }
    }
  }

  async #removeIfOld(dir: string): Promise<void> {
    const key = toKey(dir);
    const now = this.#options.clock.now();
    const released = key && (await lstat(path.join(dir, RELEASED_FILE)).catch(unlessMissing));
    if (key === null || released === null || now - released.mtimeMs < this.#keepMs) return;
    // Looked at and moved without a pause: a dispatch of the same attempt comes before or after it.
    if (this.#options.isManaged(key)) return;
    const aside = `${dir}.${now}${REMOVED}`;
    if (!moveAside(dir, aside)) return;
    await removeTree(aside);
    removeIfEmpty(path.dirname(dir));
  }
}

/**
 * Takes everything but the user's work out of the directory; false when there was nothing to take. The mark of a released attempt stays as
 * long as there is something in `work`: without it an agent would take the directory for an attempt that never began.
 */
function moveAside(dir: string, aside: string): boolean {
  const hasWork = keepsWork(path.join(dir, WORK));
  const names = readdirSync(dir).filter((name) => name !== WORK && name !== RELEASED_FILE);
  if (hasWork && names.length === 0) return false;
  mkdirSync(aside, { mode: 0o700 });
  // Must hold: the mark of a released attempt goes last.
  for (const name of hasWork ? names : [...names, RELEASED_FILE])
    renameSync(path.join(dir, name), path.join(aside, name));
  if (!hasWork) removeIfEmpty(dir);
  return true;
}

/** Whether there is something of the user's. An empty directory is removed. */
function keepsWork(work: string): boolean {
  removeIfEmpty(work);
  return lstatSync(work, { throwIfNoEntry: false }) !== undefined;
}

function removeIfEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It is not empty, is a link, or is gone.
  }
}

/** null: not the directory of an attempt, nor of an earlier life of one. */
function toKey(dir: string): AttemptKey | null {
  const attempt = /^attempt-([1-9]\d*)(?:\.before-\d+)?$/.exec(path.basename(dir))?.[1];
  return attempt === undefined
    ? null
    : { job_id: path.basename(path.dirname(dir)), attempt: Number(attempt) };
}
