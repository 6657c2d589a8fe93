import { writeAtomic, loadJson } from './durable-file.js';
import { AttemptProcesses } from './attempt-processes.js';
import type { StartedAttempt } from './attempt-hooks.js';
import { isBelow } from './job-files.js';
import { repeated } from './repeated.js';
import { attemptKey } from './runner.js';
import type { Stats } from 'node:fs';
import path from 'node:path';

/** Files of which the writer was seen. */
const MAX_REMEMBERED = 50_000;
/** Folders of other attempts that one attempt has shared. With more, all count as shared for good. */
const MAX_SHARED_FOLDERS = 1000;
/** The clock of a file system is a little behind. */
const CLOCK_SLACK_MS = 50;
/** So often the processes of attempts that share a folder are noted. */
const LOOK_EVERY_MS = 500;
/** After a sign of a change, for so long it is watched who has which files open; looking takes at most a tenth of the time. */
const WATCH_MS = 1000;
const REFRESH_MS = 100;
const MIN_PAUSE_MS = 5;
const PAUSE_PER_COST = 10;
/** Of `torch.utils.tensorboard` and of TensorFlow: time in seconds, host, pid, number. */
const NAMED_BY_PROCESS = /tfevents\.(\d+)\.(.+)\.(\d+)\.\d+(?:\.v2)?$/;

type Attempt = Pick<StartedAttempt, 'job_id' | 'attempt' | 'startedAt'> & {
  readonly paths: Pick<StartedAttempt['paths'], 'dir'>;
};

/** What identifies a file, also after it was renamed. */
export type FileIdentity = Pick<Stats, 'dev' | 'ino' | 'birthtimeMs'>;

/** A file or a directory that an attempt may have written. */
export interface WrittenFile {
  readonly path: string;
  /** When it was last written, in ms since the epoch. */
  readonly writtenAt: number;
  /** It, or the files in it. */
  readonly files: readonly FileIdentity[];
}

/** When another attempt may have written below a folder, in ms since the epoch; `until` is null while it may. */
interface Shared {
  since: number;
  until: number | null;
}

interface Present {
  readonly roots: readonly string[];
  readonly startedAt: number;
  /** By folder. */
  readonly shared: Map<string, Shared>;
  readonly stateFile: string;
}

/**
 * Says to which of the attempts that run here a file belongs, as two jobs may work in the same folder. Must hold: what was written while another attempt
 * worked there belongs to none without a proof, also once the other has ended, and after a restart of the agent.
 */
export class AttemptOwners {
  readonly #present = new Map<string, Present>();
  readonly #processes = new AttemptProcesses();
  readonly #writers = new Map<string, string>();
  #looking: { close(): Promise<void> } | null = null;
  #refreshedAt = -Infinity;
  #watchUntil = 0;
  #watching: Promise<void> | null = null;

  /** `name`: of the plugin. */
  constructor(private readonly name: string) {}

  /** The attempt runs, and may write below these folders, which are real paths. Returns what ends that. */
  async enter(attempt: Attempt, roots: readonly string[]): Promise<() => Promise<void>> {
    const key = attemptKey(attempt);
    const stateFile = path.join(attempt.paths.dir, `${this.name}-shared.json`);
    const shared = new Map(Object.entries((await loadJson<Record<string, Shared>>(stateFile)) ?? {}));
    // Whoever was there when the agent was stopped may have written until now.
    for (const span of shared.values()) span.until ??= Date.now();
    const entered: Present = { roots, startedAt: attempt.startedAt, shared, stateFile };
    const others = [...this.#present.values()];
    this.#present.set(key, entered);
    const changed = others.filter((other) => noteShared(other, entered));
    for (const other of others) noteShared(entered, other);
    for (const each of [entered, ...changed]) await save(each);
    this.#looking ??= repeated(
      () => this.#look(),
      () => LOOK_EVERY_MS,
    );
    return () => this.#leave(key);
  }

  async #leave(key: string): Promise<void> {
    const left = this.#present.get(key);
    this.#present.delete(key);
    for (const other of this.#present.values()) if (this.#endShared(other)) await save(other);
    if (this.#present.size > 0 || left === undefined) return;
    this.#watchUntil = 0;
    const looking = this.#looking;
    this.#looking = null;
    await Promise.all([looking?.close(), this.#watching]);
  }

  /**
   * Whether the file is the attempt's: it is where no other one worked when it was written; otherwise the process tells that has or had it open, or after
   * which it is named. null: that is not known now.
   */
  async isOf(attempt: Pick<Attempt, 'job_id' | 'attempt'>, file: WrittenFile): Promise<boolean | null> {
    const key = attemptKey(attempt);
    if (!this.#mayBeOfAnother(key, file)) return true;
    const known = this.#writerOf(file);
    if (known !== null) return known === key;
    await this.#refresh();
    const owner = this.#writerOf(file);
    return owner === null ? null : owner === key;
  }

  /** Something was made or changed in the folders of the attempt: for a moment it is watched who has files open. */
  notice(attempt: Pick<Attempt, 'job_id' | 'attempt'>): void {
    if (!this.#isSharing(attemptKey(attempt))) return;
    this.#watchUntil = performance.now() + WATCH_MS;
    this.#watching ??= this.#watch().finally(() => (this.#watching = null));
  }

  /** Must hold: with many files of which nothing is known, asking for all of them costs little. */
  async #refresh(): Promise<void> {
    if (performance.now() - this.#refreshedAt < REFRESH_MS) return;
    await this.#processes.look();
    await this.#noteWriters();
    this.#refreshedAt = performance.now();
  }

  #mayBeOfAnother(key: string, { path: file, writtenAt }: WrittenFile): boolean {
    const { shared } = this.#present.get(key) ?? {};
    return [...(shared ?? [])].some(
      ([folder, { since, until }]) =>
        isBelow(file, folder) && writtenAt >= since - CLOCK_SLACK_MS && writtenAt <= (until ?? Infinity),
    );
  }

  #writerOf({ path: file, files }: WrittenFile): string | null {
    const named = NAMED_BY_PROCESS.exec(path.basename(file));
    // The time of the name is cut to a second.
    const byName =
      named && this.#processes.ownerOf(named[2]!, Number(named[3]), (Number(named[1]) + 1) * 1000);
    if (byName) return byName;
    for (const each of files) {
      const writer = this.#writers.get(identityOf(each));
      if (writer !== undefined) return writer;
    }
    return null;
  }

  #isSharing(key: string): boolean {
    return [...(this.#present.get(key)?.shared.values() ?? [])].some(({ until }) => until === null);
  }

  async #look(): Promise<void> {
    if ([...this.#present.keys()].some((key) => this.#isSharing(key))) await this.#processes.look();
  }

  async #watch(): Promise<void> {
    while (performance.now() < this.#watchUntil) {
      const begun = performance.now();
      await this.#noteWriters();
      const costMs = performance.now() - begun;
      await new Promise((resolve) => setTimeout(resolve, Math.max(MIN_PAUSE_MS, costMs * PAUSE_PER_COST)));
    }
  }

  #noteWriters(): Promise<void> {
    return this.#processes.eachWritten((stats, owner) => {
      if (this.#writers.size >= MAX_REMEMBERED) this.#writers.clear();
      this.#writers.set(identityOf(stats), owner);
    });
  }

  /** Ends what nobody who is there shares any more. Answers whether there was something. */
  #endShared(attempt: Present): boolean {
    const others = [...this.#present.values()].filter((other) => other !== attempt);
    let isChanged = false;
    for (const [folder, span] of attempt.shared) {
      if (span.until !== null || others.some(({ roots }) => roots.includes(folder))) continue;
      span.until = Date.now();
      isChanged = true;
    }
    return isChanged;
  }
}

/** Notes the folders of the other one in which the attempt may write too. Answers whether there are some. */
function noteShared(attempt: Present, other: Present): boolean {
  const folders = other.roots.filter((root) => attempt.roots.some((own) => overlap(own, root)));
  for (const folder of folders) {
    const known = attempt.shared.get(folder);
    const isFull = known === undefined && attempt.shared.size >= MAX_SHARED_FOLDERS;
    const name = isFull ? path.parse(folder).root : folder;
    attempt.shared.set(name, { since: Math.min(known?.since ?? Infinity, other.startedAt), until: null });
  }
  return folders.length > 0;
}

function overlap(one: string, other: string): boolean {
  return one === other || isBelow(one, other) || isBelow(other, one);
}

function identityOf({ dev, ino, birthtimeMs }: FileIdentity): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

async function save({ shared, stateFile }: Present): Promise<void> {
  await writeAtomic(stateFile, Object.fromEntries(shared));
}
