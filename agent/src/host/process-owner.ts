import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whose process it is. */
export interface ProcessOwner {
  /** null: it cannot be told, as the process is gone. */
  readonly user: string | null;
  /** The job of this node that it belongs to; null: none. undefined: its environment cannot be read, so nobody knows. */
  readonly job: string | null | undefined;
}

const ID_TIMEOUT_MS = 5_000;
/** A user may get another name. */
const NAMES_KEPT_MS = 600_000;

/** Looks processes up in /proc. Those of a job, in containers too, have its id and that of the node in their environment. */
export class ProcessOwners {
  readonly #nodeId: string;
  readonly #procDir: string;
  readonly #names = new Map<number, string>();
  #namesUntil = 0;

  constructor(nodeId: string, procDir = '/proc') {
    this.#nodeId = nodeId;
    this.#procDir = procDir;
  }

  ownerOf(pid: number): ProcessOwner {
    return { user: this.userOf(pid), job: this.jobOf(pid) };
  }

  /** As `status` says: the files in /proc of a process that keeps its memory to itself belong to root. */
  userOf(pid: number): string | null {
    const [, uid] = /^Uid:\s+(\d+)/m.exec(read(`${this.#procDir}/${pid}/status`) ?? '') ?? [];
    return uid === undefined ? null : this.#nameOf(Number(uid));
  }

  jobOf(pid: number): ProcessOwner['job'] {
    const environment = read(`${this.#procDir}/${pid}/environ`);
    if (environment === null) return undefined;
    const valueOf = (name: string) =>
      new RegExp(`(?:^|\\0)${name}=(\\w{1,64})(?:\\0|$)`).exec(environment)?.[1];
    return valueOf('SVC_NODE_ID') === this.#nodeId ? (valueOf('SVC_JOB_ID') ?? null) : null;
  }

  /** The name of a user who is not in /etc/passwd, as one of a directory service, is there the next time; until then the number. */
  #nameOf(uid: number): string {
    if (performance.now() > this.#namesUntil) {
      this.#names.clear();
      this.#namesUntil = performance.now() + NAMES_KEPT_MS;
    }
    const known = this.#names.get(uid);
    if (known !== undefined) return known;
    const name = findName(read('/etc/passwd') ?? '', uid);
    this.#names.set(uid, name ?? String(uid));
    if (name === null)
      execFile('id', ['-un', String(uid)], { timeout: ID_TIMEOUT_MS }, (error, stdout) => {
        if (error === null && stdout.trim() !== '') this.#names.set(uid, stdout.trim());
      });
    return this.#names.get(uid) as string;
  }
}

export function findName(passwd: string, uid: number): string | null {
  const line = passwd.split('\n').find((each) => each.split(':')[2] === String(uid));
  return line?.split(':')[0] || null;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
