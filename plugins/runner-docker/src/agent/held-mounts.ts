import { DispatchFailed, toReason } from '@svc/agent';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rmdir,
  unlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Mount } from '../spec.js';

/** Of Linux: it only names the file, which it does not open. */
const O_PATH = 0o10000000;
/** The first descriptor of a child behind its standard ones. */
const CHILD_FD = 3;

const run = promisify(execFile);

/** Mounts whose sources nobody can exchange any more, until they are released. */
export interface HeldMounts {
  readonly mounts: readonly Mount[];
  /** To be called once the container has started or cannot be started; it has its own hold on them then. */
  release(): Promise<void>;
}

/**
 * The engine resolves the source of a mount by itself when the container starts, as root. A job that exchanges a directory for a link after the check would
 * get any place of the host. So an agent that is root mounts what it has checked at a place of its own, where no job comes, and the engine takes it from there.
 * The place is on a file system of its own: an engine that does not see the mounts of the agent finds no source, instead of an empty directory.
 */
export class MountHolder {
  readonly #root: string;
  #ready: Promise<void> | null = null;

  constructor(root: string) {
    this.#root = root;
  }

  /** Releases what an agent that was killed has left. */
  async restore(): Promise<void> {
    const left = await readdir(this.#root).catch(() => []);
    await Promise.all(left.map((name) => releaseAt(path.join(this.#root, name))));
    await this.close();
  }

  /** What is still held stays, as a container may be starting from it. */
  async close(): Promise<void> {
    await run('umount', [this.#root]).catch(() => {});
  }

  /** The sources are real paths that were checked. Throws DispatchFailed when one of them has changed since. */
  async hold(mounts: readonly Mount[], nodeName: string): Promise<HeldMounts> {
    const places: string[] = [];
    const release = async () => void (await Promise.all(places.splice(0).map(releaseAt)));
    try {
      const held: Mount[] = [];
      for (const mount of mounts) {
        await this.#prepare();
        const place = await mkdtemp(path.join(this.#root, 'held-'));
        places.push(place);
        held.push({ ...mount, source: await holdAt(place, mount.source, nodeName) });
      }
      return { mounts: held, release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  #prepare(): Promise<void> {
    return (this.#ready ??= this.#mountRoot().catch((error: unknown) => {
      this.#ready = null;
      throw error;
    }));
  }

  async #mountRoot(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await run('mount', ['-t', 'tmpfs', '-o', 'mode=0700,size=4m', 'svc-mounts', this.#root]);
  }
}

async function holdAt(place: string, source: string, nodeName: string): Promise<string> {
  const handle = await openUnchanged(source, nodeName);
  try {
    const target = path.join(place, 'source');
    await ((await handle.stat()).isDirectory() ? mkdir(target) : writeFile(target, ''));
    await bind(handle, target);
    return target;
  } catch (error) {
    throw new DispatchFailed(
      `${source} cannot be mounted on ${nodeName}: an agent that is root holds it with mount, which failed: ${toReason(error)}`,
    );
  } finally {
    await handle.close();
  }
}

async function openUnchanged(source: string, nodeName: string): Promise<FileHandle> {
  const handle = await open(source, O_PATH).catch((error: unknown) => {
    throw new DispatchFailed(`${source} cannot be mounted on ${nodeName}: ${toReason(error)}`);
  });
  // What was opened, whatever became of the path meanwhile.
  if ((await readlink(`/proc/self/fd/${handle.fd}`)) === source) return handle;
  await handle.close();
  throw new DispatchFailed(
    `${source} cannot be mounted on ${nodeName}: it was exchanged while it was checked`,
  );
}

/** Must hold: by the descriptor, as the path may lead elsewhere by now; private, or a release would unmount what is mounted below the source too. */
async function bind({ fd }: FileHandle, target: string): Promise<void> {
  const options = ['--no-canonicalize', '--rbind', '--make-rprivate', `/proc/self/fd/${CHILD_FD}`, target];
  const child = spawn('mount', options, { stdio: ['ignore', 'ignore', 'pipe', fd] });
  const [said, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')]);
  if (code !== 0) throw new Error(said.trim());
}

/** Must hold: nothing is removed but what is empty: there may be the files of a user. */
async function releaseAt(place: string): Promise<void> {
  const target = path.join(place, 'source');
  await run('mount', ['--make-rprivate', target])
    .then(() => run('umount', ['--lazy', target]))
    .catch(() => {});
  // A place that is still mounted is busy, and stays.
  await rmdir(target).catch(() => unlink(target).catch(() => {}));
  await rmdir(place).catch(() => {});
}
