import { createHash } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import type { HostCollector, Measured } from '../core/collector.js';
import { fileSystemsOf, type FileSystem } from './file-systems.js';

/** Of other disks than that of the state directory. */
const MOST_DISKS = 16;
/** Where directories lie is looked up again in so long, as something may be mounted meanwhile. */
const PLACED_FOR_MS = 60_000;

/** The disk of the agent's state directory: `disk.free_gb` and the like. */
export class StateDisk implements HostCollector {
  readonly name = 'disk';
  readonly of = 'host';
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  measure(): Promise<Measured> {
    return measureDisk(this.#dir, 'disk');
  }
}

/**
 * The other disks that matter, each once, however many of the directories lie there: `disk.<mount>.free_gb` and the like. Must hold: apart from
 * `StateDisk`, and one disk after the other, because a network disk that does not answer keeps a thread for as long.
 */
export class OtherDisks implements HostCollector {
  readonly name = 'other-disks';
  readonly of = 'host';
  readonly #stateDir: string;
  readonly #dirs: () => readonly string[];
  #disks: readonly FileSystem[] = [];
  #placed = { dirs: '', at: -Infinity };

  /** `dirs`: the directories that matter now. */
  constructor(stateDir: string, dirs: () => readonly string[]) {
    this.#stateDir = stateDir;
    this.#dirs = dirs;
  }

  async measure(): Promise<Measured> {
    await this.#place();
    const measured: Measured = {};
    for (const { mount, at } of this.#disks)
      Object.assign(measured, await measureDisk(at, `disk.${toDiskName(mount)}`));
    return measured;
  }

  async #place(): Promise<void> {
    const dirs = [...new Set(this.#dirs())].sort();
    const at = performance.now();
    if (dirs.join('\0') === this.#placed.dirs && at - this.#placed.at < PLACED_FOR_MS) return;
    this.#placed = { dirs: dirs.join('\0'), at };
    const [own, ...others] = await fileSystemsOf([this.#stateDir, ...dirs]);
    const disks = new Map<string, FileSystem>();
    for (const disk of others)
      if (disk && disk.id !== own?.id && !disks.has(disk.id)) disks.set(disk.id, disk);
    this.#disks = [...disks.values()].sort((a, b) => (a.mount < b.mount ? -1 : 1)).slice(0, MOST_DISKS);
  }
}

const UNUSUAL = /[^A-Za-z0-9/_.-]/gu;
const MOST_NAME_CHARS = 72;

/**
 * A mount point as part of the name of a metric: it begins with `/`, so that it is none of `free_gb` and the like. Unusual characters become those of a
 * URL; the beginning of a long one becomes a number that stands for the whole.
 */
export function toDiskName(mount: string): string {
  const name = mount.replace(UNUSUAL, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  if (name.length <= MOST_NAME_CHARS) return name;
  const whole = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `/~${whole}~${name.slice(-(MOST_NAME_CHARS - whole.length - 3))}`;
}

/** Nothing when the disk cannot be asked. */
async function measureDisk(dir: string, name: string): Promise<Measured> {
  try {
    const { blocks, bavail, bfree, bsize } = await statfs(dir);
    if (blocks === 0) return {};
    return {
      [`${name}.used_gb`]: toGb((blocks - bfree) * bsize),
      [`${name}.free_gb`]: toGb(bavail * bsize),
      [`${name}.total_gb`]: toGb(blocks * bsize),
    };
  } catch {
    return {};
  }
}

const toGb = (bytes: number) => Math.round(bytes / 1e7) / 100;
