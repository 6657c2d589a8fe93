import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';

/** Whose process it is. */
export interface Owner {
  /** null: it cannot be told. */
  readonly user: string | null;
  /** The job of this node that it belongs to. undefined: its environment cannot be read, so nobody knows. */
  readonly job: string | null | undefined;
}

const ID_TIMEOUT_MS = 5_000;

/** Looks processes up in /proc. The processes of a job have its id and that of the node in their environment. */
export class ProcessOwners {
  readonly #nodeId: string;
  readonly #names = new Map<number, string>();

  constructor(nodeId: string) {
    this.#nodeId = nodeId;
  }

  ownerOf(pid: number): Owner {
    return { user: this.#userOf(pid), job: this.#jobOf(pid) };
  }

  #userOf(pid: number): string | null {
    const [, uid] = /^Uid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '') ?? [];
    return uid === undefined ? null : this.#nameOf(Number(uid));
  }

  /** The name of a user who is not in /etc/passwd is there the next time. */
  #nameOf(uid: number): string {
    const known = this.#names.get(uid);
    if (known !== undefined) return known;
    const line = (read('/etc/passwd') ?? '').split('\n').find((each) => each.split(':')[2] === String(uid));
    const name = line?.split(':')[0] || `uid ${uid}`;
    this.#names.set(uid, name);
    if (line === undefined)
      execFile('id', ['-un', String(uid)], { timeout: ID_TIMEOUT_MS }, (error, stdout) => {
        if (error === null && stdout.trim() !== '') this.#names.set(uid, stdout.trim());
      });
    return name;
  }

  #jobOf(pid: number): string | null | undefined {
    const environment = read(`/proc/${pid}/environ`);
    if (environment === null) return undefined;
    const valueOf = (name: string) => new RegExp(`(?:^|\\0)${name}=([^\\0]*)`).exec(environment)?.[1];
    return valueOf('SVC_NODE_ID') === this.#nodeId ? (valueOf('SVC_JOB_ID') ?? null) : null;
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
