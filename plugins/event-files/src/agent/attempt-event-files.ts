import type { AgentPluginContext, CollectedEnd, RunPaths } from '@svc/agent';
import { loadJson, writeAtomic } from '@svc/agent/durable-file';
import { isOfAnother } from '@svc/agent/file-owner';
import type { FoundFile, Walked } from '@svc/agent/job-files';
import type { JobFilesFollower, OwnFile, ReportingAttempt } from '@svc/agent/job-files-collector';
import { countInSpool, leaveInSpool } from '@svc/agent/spool-records';
import { Troubles } from '@svc/agent/troubles';
import type { SpoolRecord } from '@svc/contract';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readEventFile, RECORD_LIMIT_BYTES, type Batch } from '../reader.js';
import { compare, readMark, type Mark } from './file-mark.js';
import { firstSeq, toRecords } from './file-records.js';
import { MetricNames } from './metric-names.js';
import { Prefixes, type LogFolder } from './prefixes.js';
import { RunWarnings } from './run-warnings.js';
import { STATE_FILE, type Followed, type Saved } from './saved-files.js';

const NAME = 'event-files';
/** Of a file that was flushed, so much later its scalars are on their way. */
const READ_EVERY_MS = 500;
/** With many files, looking at them stays cheap. */
const MS_PER_FILE = 5;
/** More are not followed. */
const MAX_FILES = 1000;
/** Files of records that wait for the server; with so many no more is read. */
const MAX_WAITING = 8;
/** So much is read at once, and after a pause the next: other jobs have their turns, and a file that never ends costs little. */
const PASS_BYTES = 8 * 1024 * 1024;
/** A file is given up after so much without a valid record. */
const MAX_NOISE_BYTES = 64 * 1024 * 1024;
/** So long the report of an end waits for the rest to be read; for that of an attempt that somebody has stopped less. */
const REST_MS = 20_000;
const REST_OF_STOPPED_MS = 1000;
/** So long the report of an end waits for the server to have the last values. */
const DELIVERY_MS = 2000;
const LOOK_MS = 50;
/** Folders whose first files come within this time are named alike, whichever is found first. */
const TOGETHER_MS = 1000;
/** After so long a file of which it cannot be told whose it is, is no new one. */
const UNDECIDED_MS = 10_000;
/** The clock of a file system is a little behind. */
const CLOCK_SLACK_MS = 50;

/** One turn of reading. */
interface Pass {
  readonly isLast: boolean;
  /** That are left to read. */
  bytes: number;
}

type Context = Pick<AgentPluginContext, 'log' | 'signal'>;
type Attempt = Pick<ReportingAttempt, 'job_id' | 'attempt' | 'startedAt' | 'runId' | 'paths'>;

/** The event files of one attempt: which there are, and how far they are read. */
export class AttemptEventFiles implements JobFilesFollower {
  readonly #files: Map<string, Followed>;
  readonly #prefixes: Prefixes;
  readonly #ignored = new Set<string>();
  readonly #paths: RunPaths;
  /** When the first files were found, by the monotonic clock, in ms. */
  #foundAt: number | null = null;
  /** Since when each file is seen of which it cannot be told whose it is, by the monotonic clock, in ms. */
  readonly #undecided = new Map<string, number>();
  /** The stamp of each file that was read to its end, where half a record may lie. */
  readonly #readTo = new Map<string, string>();
  readonly #warnings: RunWarnings;
  /** The spool takes nothing now: the disk is full. */
  #isBlocked = false;
  readonly #leftOut = { files: 0, scalars: 0, records: 0 };

  private constructor(
    private readonly ctx: Context,
    private readonly attempt: Attempt,
    private readonly saved: Saved,
    private readonly names: MetricNames,
    /** Nothing is known of the files that were there before the attempt. */
    private isFirstWalk: boolean,
    private readonly isOwn: OwnFile,
    private readonly troubles: Troubles,
  ) {
    this.#files = new Map(Object.entries(saved.files));
    this.#prefixes = new Prefixes(saved.base);
    this.#paths = attempt.paths;
    this.#warnings = new RunWarnings(NAME, attempt, ctx.log);
  }

  static async open(ctx: Context, attempt: Attempt, isOwn: OwnFile): Promise<AttemptEventFiles> {
    const saved = await loadJson<Saved>(path.join(attempt.paths.dir, STATE_FILE));
    const state = saved ?? { files: {}, base: null, earlier: {} };
    const { job_id, attempt: number } = attempt;
    const troubles = new Troubles(ctx.log, { job_id, attempt: number });
    const names = await MetricNames.open(attempt.paths.dir, (error) =>
      troubles.tell('names', 'the names of metrics from event files cannot be read; they begin anew', error),
    );
    return new AttemptEventFiles(ctx, attempt, state, names, saved === null, isOwn, troubles);
  }

  pauseMs(): number {
    return Math.max(READ_EVERY_MS, MS_PER_FILE * this.#files.size);
  }

  async work(): Promise<void> {
    await this.read();
  }

  finish(ended?: CollectedEnd): Promise<void> {
    return this.readRest(ended?.wasStopped ? REST_OF_STOPPED_MS : REST_MS);
  }

  /** Takes what a walk has found. Must hold: nothing is named before all folders that begin together are known. */
  async take({ found }: Pick<Walked, 'found'>, { isLast = false } = {}): Promise<boolean> {
    const fresh = found.filter(({ path }) => !this.#files.has(path) && !this.#ignored.has(path));
    if (this.isFirstWalk) await this.#noteEarlier(fresh);
    const wanted: FoundFile[] = [];
    for (const file of fresh.sort(byAge)) if (await this.#isWanted(file)) wanted.push(file);
    if (wanted.length === 0) return false;
    if (!isLast && this.#mayBeJoined()) return true;
    this.#prefixes.decide(wanted.map(folderOf));
    for (const file of wanted) await this.#follow(file);
    await this.#save();
    return false;
  }

  async #noteEarlier(files: readonly FoundFile[]): Promise<void> {
    for (const file of files) if (this.#isOld(file)) this.saved.earlier[file.path] = file.stats.size;
    this.isFirstWalk = false;
    await this.#save();
  }

  /** Other folders may begin just now. */
  #mayBeJoined(): boolean {
    this.#foundAt ??= performance.now();
    return this.#prefixes.base === null && performance.now() - this.#foundAt < TOGETHER_MS;
  }

  /** Not written since the start of the attempt. */
  #isOld({ stats }: FoundFile): boolean {
    return stats.mtimeMs < this.attempt.startedAt - CLOCK_SLACK_MS;
  }

  /** Whether it is the attempt's, and has something that the attempt wrote. */
  async #isWanted(found: FoundFile): Promise<boolean> {
    const { path: file, stats } = found;
    const from = this.saved.earlier[file];
    if (from === undefined ? this.#isOld(found) : stats.size <= from) return false;
    const isOwn =
      !(await isOfAnother(stats, this.#paths.spool)) &&
      (await this.isOwn({ path: file, writtenAt: stats.mtimeMs, files: [stats] }));
    if (isOwn === false) this.#ignored.add(file);
    if (isOwn === null) await this.#leaveOut(file);
    else this.#undecided.delete(file);
    return isOwn === true;
  }

  async #follow(found: FoundFile): Promise<void> {
    const { path: file } = found;
    if (this.#files.size >= MAX_FILES) return this.#leaveOutFile(file);
    const offset = this.saved.earlier[file] ?? 0;
    const mark = await readMark(file, offset).catch(() => null);
    if (mark === null) return;
    const prefix = this.#prefixes.of(folderOf(found));
    const moved = await this.#takeMoved(file, mark);
    this.#files.set(file, moved ?? { prefix, mark, offset, count: 0, noise: 0, generation: 0 });
  }

  /** What is known of it by the path from which it was moved here, as with its folder. */
  async #takeMoved(file: string, { head }: Mark): Promise<Followed | null> {
    for (const [before, followed] of this.#files) {
      const isLike = path.basename(before) === path.basename(file) && followed.mark.head === head;
      if (!isLike || head === '' || (await lstat(before).catch(() => null)) !== null) continue;
      this.#files.delete(before);
      return followed;
    }
    return null;
  }

  /**
   * Leaves what the files have more than before in the spool, as far as one pass goes. `isLast`: also when much waits there already. Answers whether
   * there is more to read.
   */
  async read({ isLast = false } = {}): Promise<boolean> {
    const pass: Pass = { isLast, bytes: PASS_BYTES };
    this.#isBlocked = false;
    for (const file of [...this.#files.keys()]) {
      const stats = await lstat(file).catch(() => null);
      if (stats?.isFile() && this.#readTo.get(file) !== toStamp(stats))
        await this.#readFile(file, stats, pass);
      if (this.ctx.signal.aborted) return false;
      if (pass.bytes <= 0 || this.#isBlocked) return true;
    }
    return false;
  }

  /** At the end of the attempt. Waits a moment for the server to have it, so that the run ends with its last values. */
  async readRest(mostMs = REST_MS): Promise<void> {
    const readUntil = performance.now() + mostMs;
    let hasMore = await this.read({ isLast: true });
    while (hasMore && performance.now() < readUntil && !this.ctx.signal.aborted) {
      if (this.#isBlocked) await delay(LOOK_MS);
      hasMore = await this.read({ isLast: true });
    }
    if (this.ctx.signal.aborted) return;
    await this.#tellRest(hasMore);
    const [leftOut] = this.#undecided.keys();
    if (leftOut !== undefined) await this.#tellUnproven(leftOut);
    const deadline = performance.now() + DELIVERY_MS;
    while (performance.now() < deadline && (await countInSpool(this.#paths, NAME)) > 0) await delay(LOOK_MS);
  }

  async #readFile(file: string, stats: Stats, pass: Pass): Promise<void> {
    try {
      const isRead = (await this.#recognise(file)) !== 'same' || (await this.#readOn(file, stats, pass));
      if (isRead) this.#readTo.set(file, toStamp(stats));
      this.troubles.over(file);
    } catch (error) {
      this.troubles.tell(file, 'an event file cannot be read now; it is tried again', error, { file });
    }
  }

  /** `same`: it goes on where it was read to, or begins anew as another one. */
  async #recognise(file: string): Promise<'same' | 'behind'> {
    const { prefix, mark, offset, generation } = this.#files.get(file)!;
    const comparison = await compare(file, mark, offset);
    if (comparison !== 'other') return comparison;
    const fresh = await readMark(file, 0);
    const isAnew = fresh.head === mark.head;
    const next = { prefix, mark: fresh, offset: 0, count: 0, noise: 0 };
    this.#files.set(file, { ...next, generation: isAnew ? generation + 1 : 0 });
    await this.#save();
    return 'same';
  }

  /** Answers whether it is read to its end. */
  async #readOn(file: string, { size }: Stats, pass: Pass): Promise<boolean> {
    const { offset: from, noise } = this.#files.get(file)!;
    if (size <= from || noise >= MAX_NOISE_BYTES) return true;
    // The reader looks at no more for a record that is not whole.
    pass.bytes -= Math.min(size - from, RECORD_LIMIT_BYTES);
    // Must hold: with `--run-as` nothing is read for a job that it may not read itself.
    const mayRead = async (stats: Stats) => !(await isOfAnother(stats, this.#paths.spool));
    for await (const batch of readEventFile(file, { from, mayRead })) {
      if (!pass.isLast && (await countInSpool(this.#paths, NAME)) >= MAX_WAITING) return this.#putLast(file);
      pass.bytes -= batch.offset - this.#files.get(file)!.offset;
      const { noise } = await this.#takeBatch(file, batch);
      if (this.ctx.signal.aborted || noise >= MAX_NOISE_BYTES) return false;
      if (pass.bytes <= 0) return this.#putLast(file);
    }
    return true;
  }

  async #takeBatch(file: string, { items, offset, corrupt, isNoise }: Batch): Promise<Followed> {
    const before = this.#files.get(file)!;
    const { job_id, attempt, runId } = this.attempt;
    const { prefix, generation } = before;
    const mark = await readMark(file, isNoise ? 0 : offset);
    // Must hold: a copy of the file, under the same name and prefix, has the same identity.
    const identity = [job_id, attempt, path.basename(file), prefix, mark.head];
    const seq = firstSeq(...identity, ...(generation === 0 ? [] : [generation])) + before.count;
    const takesName = (name: string) => this.names.take(name);
    const { records, leftOut } = toRecords(items, { runId, prefix, seq, takesName });
    const noise = isNoise ? before.noise + offset - before.offset : 0;
    if (corrupt > 0) this.#warnings.corrupt(file);
    if (leftOut > 0) this.#warnings.scalars(file);
    if (noise >= MAX_NOISE_BYTES) this.#warnings.noise(file, MAX_NOISE_BYTES);
    await this.#leave(records);
    this.#leftOut.scalars += leftOut;
    this.#leftOut.records += corrupt;
    const count = before.count + items.filter(({ kind }) => kind === 'scalar').length;
    const after = { prefix, mark, offset, count, noise, generation };
    this.#files.set(file, after);
    await this.#save();
    return after;
  }

  /** With the warnings that wait. Throws when the disk is full: what the records were made of is read again. */
  async #leave(records: readonly SpoolRecord[]): Promise<void> {
    const warnings = this.#warnings.waiting;
    if (records.length + warnings.length === 0) return;
    this.#isBlocked = true;
    await this.names.save();
    await leaveInSpool(this.#paths, NAME, [...records, ...warnings]);
    this.#isBlocked = false;
    this.#warnings.left(warnings);
  }

  /** What cannot be left now is left with the next records, or at the end. */
  async #leaveWarnings(): Promise<void> {
    await this.#leave([]).then(
      () => this.troubles.over('warnings'),
      (error: unknown) => this.troubles.tell('warnings', 'a warning for the run waits', error),
    );
  }

  /** The next pass begins with the others. */
  #putLast(file: string): false {
    const followed = this.#files.get(file)!;
    this.#files.delete(file);
    this.#files.set(file, followed);
    return false;
  }

  async #leaveOutFile(file: string): Promise<void> {
    this.#ignored.add(file);
    this.#leftOut.files += 1;
    this.#warnings.tooManyFiles(file, MAX_FILES);
    await this.#leaveWarnings();
  }

  /** `hasMore`: the time was over. */
  async #tellRest(hasMore: boolean): Promise<void> {
    const { files, scalars, records } = this.#leftOut;
    if (files + scalars + records > 0)
      this.ctx.log.warn('event files, scalars or unreadable records were left out', {
        ...this.#about,
        ...this.#leftOut,
      });
    if (hasMore) this.#warnings.unread(await this.#unreadBytes());
    await this.#leaveWarnings();
  }

  async #unreadBytes(): Promise<number> {
    let bytes = 0;
    for (const [file, { offset, noise }] of this.#files) {
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
    this.#warnings.unproven(file);
    await this.#leaveWarnings();
  }

  async #save(): Promise<void> {
    const { earlier } = this.saved;
    const { base } = this.#prefixes;
    const saved: Saved = { files: Object.fromEntries(this.#files), base, earlier };
    await writeAtomic(path.join(this.#paths.dir, STATE_FILE), saved).then(
      () => this.troubles.over('state'),
      (error: unknown) => this.troubles.tell('state', 'cannot note how far event files are read', error),
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

function folderOf({ root, path: file }: FoundFile): LogFolder {
  return { root, path: path.dirname(file) };
}

/** As they were made: their names begin with the time (`events.out.tfevents.1700000000.host`). */
function byAge(one: FoundFile, other: FoundFile): number {
  return madeAt(one.path) - madeAt(other.path) || (one.path < other.path ? -1 : 1);
}

function madeAt(file: string): number {
  return Number(/tfevents\.(\d+)/.exec(path.basename(file))?.[1] ?? 0);
}
