import { readFileSync, statSync } from 'node:fs';

/** The job of a process, from its environment; null when it has none, or the environment cannot be read. */
export function jobOfProcess(pid: number, procDir = '/proc'): string | null {
  try {
    const environment = `\0${readFileSync(`${procDir}/${pid}/environ`, 'latin1')}`;
    return /\0SVC_JOB_ID=(\w{1,64})\0/.exec(environment)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** null: it is gone. */
export function userIdOf(pid: number, procDir = '/proc'): number | null {
  try {
    return statSync(`${procDir}/${pid}`).uid;
  } catch {
    return null;
  }
}

const LOADED_FOR_MS = 600_000;

/** Names of users by /etc/passwd. Users of a directory service are not in there: they are shown by their number. */
export class UserNames {
  #names = new Map<number, string>();
  #loadedAt = -Infinity;

  nameOf(uid: number | null): string | null {
    if (uid === null) return null;
    if (performance.now() - this.#loadedAt > LOADED_FOR_MS) this.#load();
    return this.#names.get(uid) ?? String(uid);
  }

  #load(): void {
    this.#loadedAt = performance.now();
    try {
      this.#names = parsePasswd(readFileSync('/etc/passwd', 'utf8'));
    } catch {
      // Numbers tell users apart too.
    }
  }
}

export function parsePasswd(passwd: string): Map<number, string> {
  const rows = passwd.split('\n').map((line) => line.split(':'));
  return new Map(rows.flatMap(([name, , uid]) => (name && uid ? [[Number(uid), name] as const] : [])));
}
