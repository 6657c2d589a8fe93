import type { AttemptKey } from '@svc/contract';
import { readFile } from 'node:fs/promises';
import { isBelow } from './job-files.js';
import { openFilesAt } from './open-files.js';
import { attemptKey } from './runner.js';

/** Files of attempts that have ended, which another one must not take for its own. */
const MAX_REMEMBERED = 10_000;

/** Says to which of the attempts that run here a file belongs, as two jobs may work in the same folder. */
export class AttemptOwners {
  readonly #roots = new Map<string, readonly string[]>();
  readonly #owners = new Map<string, string>();

  /** The attempt runs, and may write below these folders. Returns what ends that. */
  enter(attempt: AttemptKey, roots: readonly string[]): () => void {
    const key = attemptKey(attempt);
    this.#roots.set(key, roots);
    return () => this.#roots.delete(key);
  }

  /**
   * Whether the file is the attempt's: where no other one works there, it is; otherwise the process that has it open tells. null: none has it
   * open now.
   */
  async isOf(attempt: AttemptKey, file: string): Promise<boolean | null> {
    const key = attemptKey(attempt);
    const owner = this.#owners.get(file) ?? (this.isShared(attempt, file) ? await this.#opener(file) : key);
    if (owner === null) return null;
    if (this.#owners.size >= MAX_REMEMBERED) this.#owners.clear();
    this.#owners.set(file, owner);
    return owner === key;
  }

  /** Whether another attempt may have written it. */
  isShared(attempt: AttemptKey, file: string): boolean {
    const others = [...this.#roots].filter(([key]) => key !== attemptKey(attempt));
    return others.some(([, roots]) => roots.some((root) => isBelow(file, root)));
  }

  /** The attempt whose process has the file, or one below it, open. */
  async #opener(file: string): Promise<string | null> {
    for (const { pid } of await openFilesAt(file)) {
      const owner = await attemptOf(pid);
      if (owner !== null) return owner;
    }
    return null;
  }
}

/** By the variables that the agent gives every process of an attempt. */
async function attemptOf(pid: string): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  const job_id = /(?:^|\0)SVC_JOB_ID=([^\0]+)/.exec(text)?.[1];
  const attempt = /(?:^|\0)SVC_ATTEMPT=(\d+)/.exec(text)?.[1];
  return job_id === undefined ? null : attemptKey({ job_id, attempt: Number(attempt) });
}
