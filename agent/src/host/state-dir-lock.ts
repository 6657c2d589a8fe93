import { BootError } from '@svc/hooks';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { readdir, rename, stat, statfs, unlink, utimes } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readBootId } from '../core/boot-id.js';
import { isMissing, unlessMissing } from '../core/durable-file.js';
import { LOCAL_FILE_SYSTEMS } from '../core/local-file-systems.js';

const CLAIM = /^lock\.[\w-]+\.[0-9a-f]{16}\.sock$/;
const UNPUBLISHED = /^lock\..*\.sock\.new$/;
const LOOK_MS = 20;
/** A claim that does not answer for so long is taken for held: its agent stands still. */
const ANSWER_MS = 3_000;
const DECISION_MS = 10_000;
const RENEW_MS = 5_000;
/** A claim of another host that was not renewed for so long is none any more. */
const EXPIRED_MS = 60_000;

export interface StateDirLock {
  /** Resolves when the lock was taken from us: somebody removed its file. */
  readonly lost: Promise<void>;
  unlock(): Promise<void>;
}

export interface LockOptions {
  readonly bootId?: string;
  /** Whether other hosts may have the directory too. Left out: by its file system. */
  readonly isShared?: boolean;
  readonly renewMs?: number;
}

type Answer = 'gone' | 'held' | 'claimed' | 'none';

/**
 * Makes sure that no other agent works on the state directory. Each agent listens on a socket in it, under a name that is never
 * used again, and then looks for others: of any two agents at least one sees the other. A socket that nobody listens on any more
 * was left by a process that is gone, however it ended, so its file can be removed at any time. The kernel finds these sockets by
 * their file, whatever network or process namespace the agents run in; and listening keeps the process alive, also while all
 * that the agent waits for is a file of a shim. Rejects when another agent has the directory.
 *
 * Other hosts, where a shared file system has the directory, cannot connect: their claims count while they are renewed.
 */
export async function lockStateDir(stateDir: string, options: LockOptions = {}): Promise<StateDirLock> {
  const isShared = options.isShared ?? !LOCAL_FILE_SYSTEMS.has((await statfs(stateDir)).type);
  const claim = new Claim(stateDir, options.bootId ?? readBootId());
  try {
    await claim.publish();
    await prevail(claim, isShared);
  } catch (error) {
    await claim.withdraw();
    throw error;
  }
  claim.state = 'held';
  return toLock(claim, options.renewMs ?? RENEW_MS);
}

function toLock(claim: Claim, renewMs: number): StateDirLock {
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<void>((resolve) => {
    const renew = () => claim.renew().then((isThere) => isThere || resolve());
    timer = setInterval(() => void renew(), renewMs).unref();
  });
  const unlock = async () => {
    clearInterval(timer);
    await claim.withdraw();
  };
  return { lost, unlock };
}

/** Of agents that are started at the same time the one whose name comes first prevails. */
async function prevail(claim: Claim, isShared: boolean): Promise<void> {
  const taken = `another agent already works on ${claim.dir}: stop that one, or give this one its own with --state-dir DIR`;
  const giveUpAt = performance.now() + DECISION_MS;
  for (;;) {
    let rivals = 0;
    for (const name of await claim.others()) {
      if (isShared && !claim.isOfThisBoot(name)) await refuseUnlessExpired(claim, name);
      const answer = await claim.ask(name);
      if (answer === 'gone') await claim.remove(name);
      else rivals += 1;
      if (answer === 'held' || (answer === 'claimed' && name < claim.name)) throw new BootError(taken);
    }
    if (rivals === 0) return;
    if (performance.now() > giveUpAt) throw new BootError(taken);
    await delay(LOOK_MS);
  }
}

async function refuseUnlessExpired(claim: Claim, name: string): Promise<void> {
  const ageMs = await claim.ageMs(name);
  if (ageMs === null || ageMs >= EXPIRED_MS) return;
  const ago = Math.max(0, Math.round(ageMs / 1000));
  throw new BootError(
    `an agent of another host, or of this one before it was restarted, works on ${claim.dir}: it renewed its lock ${ago} s ago; ` +
      'give each host its own with --state-dir, or start again in a minute when that agent has ended',
  );
}

/** Our socket in the state directory. */
class Claim {
  readonly #bootId: string;

  state: 'claimed' | 'held' = 'claimed';
  readonly name: string;
  readonly #server: Server;
  /** Paths through it are short however long the directory's is: the name of a socket has 107 bytes at most. */
  readonly #dirFd: number;
  #isWithdrawn = false;

  constructor(
    readonly dir: string,
    bootId: string,
  ) {
    this.#bootId = bootId;
    this.name = `lock.${bootId}.${randomBytes(8).toString('hex')}.sock`;
    this.#dirFd = openSync(dir, 'r');
    this.#server = createServer((socket) => socket.on('error', () => {}).end(this.state));
  }

  /** Must hold: it listens before others see it, for they take a socket on which nobody listens for one that was left. */
  async publish(): Promise<void> {
    const unpublished = `${this.name}.new`;
    try {
      await listen(this.#server, this.#toAddress(unpublished));
      await rename(path.join(this.dir, unpublished), path.join(this.dir, this.name));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const message = `${this.dir} cannot be locked (${code}): it must be writable, with room, on a file system that takes Unix sockets; choose another with --state-dir`;
      throw new BootError(message, undefined, { cause: error });
    }
  }

  isOfThisBoot(name: string): boolean {
    return name.startsWith(`lock.${this.#bootId}.`);
  }

  /** The names of all other claims. Clears away what was never published. */
  async others(): Promise<string[]> {
    const names = (await readdir(this.dir)).filter((name) => name !== this.name);
    for (const name of names.filter((each) => UNPUBLISHED.test(each)))
      if (((await this.ageMs(name)) ?? 0) >= EXPIRED_MS) await this.remove(name);
    return names.filter((name) => CLAIM.test(name));
  }

  ask(name: string): Promise<Answer> {
    return new Promise((resolve) => {
      let text = '';
      const socket = connect(this.#toAddress(name));
      socket.setEncoding('utf8').setTimeout(ANSWER_MS, () => {
        resolve('held');
        socket.destroy();
      });
      socket.on('data', (part: string) => (text += part));
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' || isMissing(error)) resolve('gone');
        else if (error.code !== 'ECONNRESET') resolve('held');
      });
      socket.on('close', () => resolve(text === 'held' || text === 'claimed' ? text : 'none'));
    });
  }

  /** How long ago it was renewed, where the clocks of the hosts agree. null: it is gone. */
  async ageMs(name: string): Promise<number | null> {
    const facts = await stat(path.join(this.dir, name)).catch(unlessMissing);
    return facts === null ? null : Date.now() - facts.mtimeMs;
  }

  async remove(name: string): Promise<void> {
    await unlink(path.join(this.dir, name)).catch(unlessMissing);
  }

  /** False when our file is gone. A disk that does not take the time for a while changes nothing. */
  async renew(): Promise<boolean> {
    const now = new Date();
    return utimes(path.join(this.dir, this.name), now, now).then(
      () => true,
      (error: unknown) => this.#isWithdrawn || !isMissing(error),
    );
  }

  async withdraw(): Promise<void> {
    if (this.#isWithdrawn) return;
    this.#isWithdrawn = true;
    await this.remove(this.name).catch(() => {});
    await new Promise((resolve) => this.#server.close(resolve));
    closeSync(this.#dirFd);
  }

  #toAddress(name: string): string {
    return `/proc/self/fd/${this.#dirFd}/${name}`;
  }
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, resolve);
  });
}
