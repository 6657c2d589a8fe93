import { readFileSync } from 'node:fs';

/** The job of a process, from its environment; null when it has none, or the environment cannot be read. */
export function jobOf(pid: number): string | null {
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
    return /\0SVC_JOB_ID=([^\0]*)/.exec(environment)?.[1] ?? null;
  } catch {
    return null;
  }
}
