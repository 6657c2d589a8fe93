import { loadJson } from '@svc/agent/durable-file';
import type { ReportingAttempt } from '@svc/agent/job-files-collector';
import path from 'node:path';

export const STATE_FILE = 'checkpoint-watcher.json';

/** The path of a checkpoint that is registered, and a hash of the stamp that it had. */
export interface Registered {
  readonly at: string;
  readonly stamp: string;
}

/** `checkpoint-watcher.json` in the attempt's directory, by the path of the candidate. */
export interface Saved {
  readonly registered: Record<string, Registered>;
  /** Of earlier attempts of the job. */
  readonly earlier: Record<string, Registered>;
}

/** What earlier attempts of the job registered on this host and left there. */
export async function earlierCheckpoints({
  attempt,
  paths,
}: Pick<ReportingAttempt, 'attempt' | 'paths'>): Promise<Saved['earlier']> {
  for (let number = attempt - 1; number > 0; number--) {
    const file = path.join(path.dirname(paths.dir), `attempt-${number}`, STATE_FILE);
    const saved = await loadJson<Saved>(file);
    if (saved !== null) return { ...saved.earlier, ...saved.registered };
  }
  return {};
}
