import { readFileSync } from 'node:fs';

/** The job whose attempt the process belongs to, as its environment says; null: none, or not ours to know. */
export function jobOf(pid: number): string | null {
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
    return /\0SVC_JOB_ID=([^\0]*)/.exec(environment)?.[1] ?? null;
  } catch {
    return null;
  }
}
