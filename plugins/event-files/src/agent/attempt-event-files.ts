import { toReason, type AgentPluginContext, type RunPaths, type StartedAttempt } from '@svc/agent';
import type { WrittenFile } from '@svc/agent/attempt-owners';
import { loadJson, writeAtomic } from '@svc/agent/durable-file';
import { isOfAnother } from '@svc/agent/file-owner';
import type { FoundFile, Walked } from '@svc/agent/job-files';
import { countInSpool, leaveInSpool } from '@svc/agent/spool-records';
import type { SpoolRecord } from '@svc/contract';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readEventFile, RECORD_LIMIT_BYTES, type Batch } from '../reader.js';
import { firstSeq, toRecords } from './file-records.js';
import { Prefixes, type NamedFolder } from './prefixes.js';

const NAME = 'event-files';
const STATE_FILE = 'event-files.json';
/** More are not followed. */
const MAX_FILES = 1000;
/** Files of records that wait for the server; with so many no more is read. */
const MAX_WAITING = 8;
/** So much is read at once, and after a pause the next: other jobs have their turns, and a file that never ends costs little. */
const PASS_BYTES = 8 * 1024 * 1024;
/** A file is given up after so much without a valid record. */
const MAX_NOISE_BYTES = 64 * 1024 * 1024;
/** The server takes no more metrics of a run. */
const MAX_NAMES = 10_000;
/** So long the report of an end waits for the rest to be read; for that of an attempt that somebody has stopped less. */
const REST_MS = 20_000;
export const REST_OF_STOPPED_MS = 1000;
/** So long the report of an end waits for the server to have the last values. */
const DELIVERY_MS = 2000;
const LOOK_MS = 50;
/** A file that is younger is taken by the next walk. */
const SETTLED_MS = 50;
/** After so long a file of which it cannot be told whose it is, is no new one. */
const UNDECIDED_MS = 10_000;
/** The clock of a file system is a little behind. */
const CLOCK_SLACK_MS = 50;

/** A file that is read. */
interface Followed {
  readonly prefix: string;
  readonly ino: number;
  /** Bytes that are dealt with. */
  offset: number;
  /** Scalars that lie before the offset. */
  count: number;
  /** Bytes before the offset without a valid record. */
  noise?: number;
  /** How often it was truncated and written anew in place: its values are new ones then. */
  generation: number;
}

/** One turn of reading. */
interface Pass {
  readonly isLast: boolean;
  /** That are left to read. */
  bytes: number;
}

/** `event-files.json` in the attempt's directory. It may be behind: what is read again has the same seqs. */
interface Saved {
  readonly files: Record<string, Followed>;
  readonly folders: NamedFolder[];
  /** Files of before the attempt, with their sizes: they are followed once they grow. */
  readonly earlier: Record<string, number>;
}

/** Whether a file that may belong to several attempts is this one's; null: that cannot be told yet. */
export type OwnFile = (file: WrittenFile) => Promise<boolean | null>;

type Context = Pick<AgentPluginContext, 'log' | 'signal'>;
type Attempt = Pick<StartedAttempt, 'job_id' | 'attempt' | 'startedAt'> & { readonly runId: string };

/** The event files of one attempt: which there are, and how far they are read. */
export class AttemptEventFiles {
  readonly #files: Map<string, Followed>;
  readonly #prefixes: Prefixes;
  readonly #ignored = new Set<string>();
  /** Files that were new to a walk. */
  readonly #postponed = new Set<string>();
  /** Since when each file is seen of which it cannot be told whose it is, by the monotonic clock, in ms. */
  readonly #undecided = new Map<string, number>();
  /** The stamp of each file that was read to its end, where half a record may lie. */
  readonly #readTo = new Map<string, string>();
  /** Warnings that the run has. */
  readonly #told = new Set<string>();
  readonly #names = new Set<string>();
  readonly #leftOut = { files: 0, scalars: 0 };

  private constructor(
    private readonly ctx: Context,
    private readonly attempt: Attempt,
    private readonly paths: RunPaths,
    private readonly saved: Saved,
    /** Nothing is known of the files that were there before the attempt. */
    private isFirstWalk: boolean,
    private readonly isOwn: OwnFile,
  ) {
    this.#files = new Map(Object.entries(saved.files));
    this.#prefixes = new Prefixes(saved.folders);
  }

  static async open(
    ctx: Context,
    attempt: Attempt,
    paths: RunPaths,
    isOwn: OwnFile,
  ): Promise<AttemptEventFiles> {
    const saved = await loadJson<Saved>(path.join(paths.dir, STATE_FILE));
    const state = saved ?? { files: {}, folders: [], earlier: {} };
    return new AttemptEventFiles(ctx, attempt, paths, state, saved === null, isOwn);
  }

  get count(): number {
    return this.#files.size;
  }

  /** Takes what a walk has found. Answers whether some of it is left for the next one. */
  async take({ found, begunAt }: Pick<Walked, 'found' | 'begunAt'>): Promise<boolean> {
    const fresh = found.filter(({ path }) => !this.#files.has(path) && !this.#ignored.has(path));
    // Must hold: the file of a folder is taken before those below it, as the first one decides about prefixes. The walk may have missed it.
    const isSettled = ({ path, stats }: FoundFile) =>
      this.#postponed.has(path) || stats.birthtimeMs < begunAt - SETTLED_MS;
    const settled = fresh.filter(isSettled);
    for (const file of fresh) {
      this.#postponed.add(file.path);
      if (this.isFirstWalk && this.#isOld(file)) this.saved.earlier[file.path] = file.stats.size;
    }
    for (const file of settled.sort(byAge)) await this.#takeFile(file);
    for (const { path } of settled) if (this.#files.has(path)) this.#postponed.delete(path);
    this.isFirstWalk = false;
    if (settled.length > 0) await this.#save();
    return settled.length < fresh.length;
  }

  /** Not written since the start of the attempt. */
  #isOld({ stats }: FoundFile): boolean {
    return stats.mtimeMs < this.attempt.startedAt - CLOCK_SLACK_MS;
  }

  async #takeFile(found: FoundFile): Promise<void> {
    const { path: file, stats } = found;
    const from = this.saved.earlier[file];
    if (from === undefined ? this.#isOld(found) : stats.size <= from) return;
    if (this.#files.size >= MAX_FILES) return this.#leaveOutFile(file);
    if (await isOfAnother(stats, this.paths.spool)) return void this.#ignored.add(file);
    const isOwn = await this.isOwn({ path: file, writtenAt: stats.mtimeMs, files: [stats] });
    if (isOwn === false) this.#ignored.add(file);
    if (isOwn === null) return this.#leaveOut(file);
    this.#undecided.delete(file);
    if (!isOwn) return;
    const prefix = this.#prefixes.of(path.dirname(file));
    this.#files.set(file, { prefix, ino: stats.ino, offset: from ?? 0, count: 0, generation: 0 });
  }

  /**
   * Leaves what the files have more than before in the spool, as far as one pass goes. `isLast`: also when much waits there already. Answers whether
   * there is more to read.
   */
  async read({ isLast = false } = {}): Promise<boolean> {
    const pass: Pass = { isLast, bytes: PASS_BYTES };
    for (const [file, followed] of [...this.#files]) {
      const stats = await lstat(file).catch(() => null);
      if (stats === null || !stats.isFile()) continue;
      const isReplaced = stats.ino !== followed.ino;
      if (isReplaced || stats.size < followed.offset) {
        const generation = isReplaced ? 0 : followed.generation + 1;
        this.#files.set(file, { ...followed, ino: stats.ino, offset: 0, count: 0, noise: 0, generation });
        await this.#save();
      }
      const { offset, noise = 0 } = this.#files.get(file)!;
      const hasMore = stats.size > offset && this.#readTo.get(file) !== toStamp(stats);
      if (hasMore && noise < MAX_NOISE_BYTES) await this.#readFile(file, stats, pass);
      if (this.ctx.signal.aborted) return false;
      if (pass.bytes <= 0) return true;
    }
    return false;
  }

  /** At the end of the attempt. Waits a moment for the server to have it, so that the run ends with its last values. */
  async readRest(mostMs = REST_MS): Promise<void> {
    const readUntil = performance.now() + mostMs;
    let hasMore = await this.read({ isLast: true });
    while (hasMore && performance.now() < readUntil) hasMore = await this.read({ isLast: true });
    if (this.ctx.signal.aborted) return;
    await this.#tellRest(hasMore);
    const [leftOut] = this.#undecided.keys();
    if (leftOut !== undefined) await this.#tellUnproven(leftOut);
    const deadline = performance.now() + DELIVERY_MS;
    while (performance.now() < deadline && (await countInSpool(this.paths, NAME)) > 0) await delay(LOOK_MS);
  }

  async #readFile(file: string, { size, mtimeMs }: Stats, pass: Pass): Promise<void> {
    const followed = this.#files.get(file)!;
    // The reader looks at no more for a record that is not whole.
    pass.bytes -= Math.min(size - followed.offset, RECORD_LIMIT_BYTES);
    try {
      // Must hold: with `--run-as` nothing is read for a job that it may not read itself.
      const mayRead = async (stats: Stats) => !(await isOfAnother(stats, this.paths.spool));
      const from = followed.offset;
      for await (const batch of readEventFile(file, { from, mayRead })) {
        if (!pass.isLast && (await countInSpool(this.paths, NAME)) >= MAX_WAITING)
          return this.#putLast(file, followed);
        pass.bytes -= batch.offset - followed.offset;
        await this.#takeBatch(file, followed, batch);
        if (this.ctx.signal.aborted || followed.noise! >= MAX_NOISE_BYTES) return;
        if (pass.bytes <= 0) return this.#putLast(file, followed);
      }
      this.#readTo.set(file, toStamp({ size, mtimeMs }));
    } catch (error) {
      this.ctx.log.warn('an event file cannot be read now', {
        ...this.#about,
        file,
        reason: toReason(error),
      });
    }
  }

  async #takeBatch(file: string, followed: Followed, batch: Batch): Promise<void> {
    const { items, offset, corrupt, isNoise } = batch;
    const { job_id, attempt, runId } = this.attempt;
    const { ino, generation } = followed;
    const identity = [job_id, attempt, file, ino, ...(generation === 0 ? [] : [generation])];
    const seq = firstSeq(...identity) + followed.count;
    const takesName = (name: string) => this.#takesName(name);
    const { prefix } = followed;
    const { records, leftOut } = toRecords(items, { runId, prefix, seq, takesName });
    const noise = isNoise ? (followed.noise ?? 0) + offset - followed.offset : 0;
    this.#leftOut.scalars += leftOut;
    if (corrupt > 0) records.push(...this.#tellCorrupt(file));
    if (leftOut > 0) records.push(...this.#tellScalars(file));
    if (noise >= MAX_NOISE_BYTES) records.push(...this.#tellNoise(file));
    await this.#leave(records);
    const count = followed.count + items.filter(({ kind }) => kind === 'scalar').length;
    Object.assign(followed, { offset, noise, count });
    await this.#save();
  }

  async #leave(records: readonly SpoolRecord[]): Promise<void> {
    if (records.length > 0) await leaveInSpool(this.paths, NAME, records);
  }

  #takesName(name: string): boolean {
    if (this.#names.size < MAX_NAMES) this.#names.add(name);
    return this.#names.has(name);
  }

  /** The next pass begins with the others. */
  #putLast(file: string, followed: Followed): void {
    this.#files.delete(file);
    this.#files.set(file, followed);
  }

  async #leaveOutFile(file: string): Promise<void> {
    this.#ignored.add(file);
    this.#leftOut.files += 1;
    const title = `There are more than ${MAX_FILES} event files`;
    const message = `${file} and others are not read. \`svc import\` takes the folder after the job.`;
    await this.#leave(this.#warnOnce('files', title, message));
  }

  /** `hasMore`: the time was over. */
  async #tellRest(hasMore: boolean): Promise<void> {
    const { files, scalars } = this.#leftOut;
    if (files + scalars > 0)
      this.ctx.log.warn('event files or scalars were left out', { ...this.#about, files, scalars });
    if (!hasMore) return;
    const bytes = await this.#unreadBytes();
    const title = 'Event files were not read to their end';
    const message = `The last ${bytes} bytes were not read when the job had ended, as that took too long. They are still on the host: \`svc import\` takes the folder.`;
    await this.#leave(this.#warnOnce('rest', title, message));
  }

  async #unreadBytes(): Promise<number> {
    let bytes = 0;
    for (const [file, { offset, noise = 0 }] of this.#files) {
      const stats = await lstat(file).catch(() => null);
      if (noise < MAX_NOISE_BYTES) bytes += Math.max(0, (stats?.size ?? 0) - offset);
    }
    return bytes;
  }

  /** For now: its writer may show itself. After a while the run is told. */
  async #leaveOut(file: string): Promise<void> {
    const now = performance.now();
    const since = this.#undecided.get(file) ?? now;
    this.#undecided.set(file, since);
    if (now - since >= UNDECIDED_MS) await this.#tellUnproven(file);
  }

  async #tellUnproven(file: string): Promise<void> {
    const title = 'An event file is left out: it cannot be told which of the jobs in its folder wrote it';
    const message = `${file}: run each job in a folder of its own (\`svc submit --upload\` makes one), or report with the SDK.`;
    await this.#leave(this.#warnOnce('left out', title, message));
  }

  #tellCorrupt(file: string): SpoolRecord[] {
    const title = 'An event file has records that cannot be read';
    const message = `${file}: its other records are read. Such records are left out, here and in other files of this attempt.`;
    return this.#warnOnce('corrupt', title, message);
  }

  #tellScalars(file: string): SpoolRecord[] {
    const title = 'Some scalars of event files are left out';
    const message = `${file}: a name has at most 250 characters and no control characters, a step is an integer below 2^53, and a run has at most ${MAX_NAMES} metrics. The agent's log tells their number at the end.`;
    return this.#warnOnce('scalars', title, message);
  }

  #tellNoise(file: string): SpoolRecord[] {
    const title = 'An event file is given up';
    const message = `${file}: it holds ${MAX_NOISE_BYTES} bytes without one valid record, and is not read any further. Nor is any other such file of this attempt.`;
    return this.#warnOnce('noise', title, message);
  }

  /** Each warning once for each attempt. */
  #warnOnce(key: string, title: string, message: string): SpoolRecord[] {
    if (this.#told.has(key)) return [];
    this.#told.add(key);
    this.ctx.log.warn(title, { ...this.#about, message });
    return [this.#warning(key, title, message)];
  }

  #warning(key: string, title: string, message: string): SpoolRecord {
    const { runId, attempt } = this.attempt;
    const body = { title, message, severity: 'warning' as const };
    return { kind: 'event', run_id: runId, key: `${NAME} ${attempt} ${key}`, ts: Date.now(), body };
  }

  async #save(): Promise<void> {
    const { earlier } = this.saved;
    const saved: Saved = { files: Object.fromEntries(this.#files), folders: this.#prefixes.bases, earlier };
    await writeAtomic(path.join(this.paths.dir, STATE_FILE), saved).catch((error: unknown) =>
      this.ctx.log.warn('cannot note how far event files are read', {
        ...this.#about,
        reason: toReason(error),
      }),
    );
  }

  get #about() {
    const { job_id, attempt } = this.attempt;
    return { job_id, attempt };
  }
}

function toStamp({ size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>): string {
  return `${size} ${mtimeMs}`;
}

/** As they were made: their names begin with the time (`events.out.tfevents.1700000000.host`), and a folder comes before those in it. */
function byAge(one: FoundFile, other: FoundFile): number {
  return (
    madeAt(one.path) - madeAt(other.path) ||
    depthOf(one.path) - depthOf(other.path) ||
    (one.path < other.path ? -1 : 1)
  );
}

function depthOf(file: string): number {
  return file.split(path.sep).length;
}

function madeAt(file: string): number {
  return Number(/tfevents\.(\d+)/.exec(path.basename(file))?.[1] ?? 0);
}
