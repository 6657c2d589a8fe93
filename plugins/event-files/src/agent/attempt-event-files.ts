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
import { readEventFile } from '../reader.js';
import { firstSeq, toRecords } from './file-records.js';
import { Prefixes, type NamedFolder } from './prefixes.js';

const NAME = 'event-files';
const STATE_FILE = 'event-files.json';
/** More are not followed. */
const MAX_FILES = 1000;
/** Files of records that wait for the server; with so many no more is read. */
const MAX_WAITING = 8;
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
  /** How often it was truncated and written anew in place: its values are new ones then. */
  generation: number;
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
  #isTold = false;
  #isLeftOutTold = false;

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
    if (this.#files.size >= MAX_FILES) return;
    if (await isOfAnother(stats, this.paths.spool)) return void this.#ignored.add(file);
    const isOwn = await this.isOwn({ path: file, writtenAt: stats.mtimeMs, files: [stats] });
    if (isOwn === false) this.#ignored.add(file);
    if (isOwn === null) return this.#leaveOut(file);
    this.#undecided.delete(file);
    if (!isOwn) return;
    const prefix = this.#prefixes.of(path.dirname(file));
    this.#files.set(file, { prefix, ino: stats.ino, offset: from ?? 0, count: 0, generation: 0 });
  }

  /** Leaves what the files have more than before in the spool. `isLast`: also when much waits there already. */
  async read({ isLast = false } = {}): Promise<void> {
    for (const [file, followed] of this.#files) {
      const stats = await lstat(file).catch(() => null);
      if (stats === null || !stats.isFile()) continue;
      const isReplaced = stats.ino !== followed.ino;
      if (isReplaced || stats.size < followed.offset) {
        const generation = isReplaced ? 0 : followed.generation + 1;
        this.#files.set(file, { ...followed, ino: stats.ino, offset: 0, count: 0, generation });
        await this.#save();
      }
      if (stats.size > this.#files.get(file)!.offset) await this.#readFile(file, isLast);
      if (this.ctx.signal.aborted) return;
    }
  }

  /** At the end of the attempt. Waits a moment for the server to have it, so that the run ends with its last values. */
  async readRest(): Promise<void> {
    await this.read({ isLast: true });
    const [leftOut] = this.#undecided.keys();
    if (leftOut !== undefined) await this.#tellLeftOut(leftOut);
    const deadline = performance.now() + DELIVERY_MS;
    while (performance.now() < deadline && (await countInSpool(this.paths, NAME)) > 0) await delay(LOOK_MS);
  }

  async #readFile(file: string, isLast: boolean): Promise<void> {
    const followed = this.#files.get(file)!;
    try {
      // Must hold: with `--run-as` nothing is read for a job that it may not read itself.
      const mayRead = async (stats: Stats) => !(await isOfAnother(stats, this.paths.spool));
      const from = followed.offset;
      for await (const { items, offset, corrupt } of readEventFile(file, { from, mayRead })) {
        if (!isLast && (await countInSpool(this.paths, NAME)) >= MAX_WAITING) return;
        const { job_id, attempt, runId } = this.attempt;
        const { ino, generation } = followed;
        const identity = [job_id, attempt, file, ino, ...(generation === 0 ? [] : [generation])];
        const seq = firstSeq(...identity) + followed.count;
        const records = toRecords(items, { runId, prefix: followed.prefix, seq });
        if (corrupt > 0) records.push(...this.#tellCorrupt(file));
        if (records.length > 0) await leaveInSpool(this.paths, NAME, records);
        followed.offset = offset;
        followed.count += items.filter(({ kind }) => kind === 'scalar').length;
        await this.#save();
        if (this.ctx.signal.aborted) return;
      }
    } catch (error) {
      this.ctx.log.warn('an event file cannot be read now', {
        ...this.#about,
        file,
        reason: toReason(error),
      });
    }
  }

  /** For now: its writer may show itself. After a while the run is told. */
  async #leaveOut(file: string): Promise<void> {
    const now = performance.now();
    const since = this.#undecided.get(file) ?? now;
    this.#undecided.set(file, since);
    if (now - since >= UNDECIDED_MS) await this.#tellLeftOut(file);
  }

  /** Once for each attempt. */
  async #tellLeftOut(file: string): Promise<void> {
    if (this.#isLeftOutTold) return;
    this.#isLeftOutTold = true;
    const title = 'An event file is left out: it cannot be told which of the jobs in its folder wrote it';
    this.ctx.log.warn(title, { ...this.#about, file });
    const message = `${file}: run each job in a folder of its own (\`svc submit --upload\` makes one), or report with the SDK.`;
    await leaveInSpool(this.paths, NAME, [this.#warning('left out', title, message)]);
  }

  #warning(key: string, title: string, message: string): SpoolRecord {
    const { runId, attempt } = this.attempt;
    const body = { title, message, severity: 'warning' as const };
    return { kind: 'event', run_id: runId, key: `${NAME} ${attempt} ${key}`, ts: Date.now(), body };
  }

  /** Once for each attempt. */
  #tellCorrupt(file: string): SpoolRecord[] {
    if (this.#isTold) return [];
    this.#isTold = true;
    this.ctx.log.warn('an event file has records that cannot be read', { ...this.#about, file });
    const title = 'An event file has records that cannot be read';
    const message = `${file}: its other records are read. Such records are left out, here and in other files of this attempt.`;
    return [this.#warning('corrupt', title, message)];
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
