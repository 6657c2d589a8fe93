import type { AgentPluginContext, CollectedEnd, RunPaths } from '@svc/agent';
import type { WrittenFile } from '@svc/agent/attempt-owners';
import { loadJson, writeAtomic } from '@svc/agent/durable-file';
import { isOfAnother } from '@svc/agent/file-owner';
import type { FoundFile, Walked } from '@svc/agent/job-files';
import type { JobFilesFollower, OwnFile, ReportingAttempt } from '@svc/agent/job-files-collector';
import { placesWritten } from '@svc/agent/open-files';
import { leaveInSpool } from '@svc/agent/spool-records';
import { Troubles } from '@svc/agent/troubles';
import type { SpoolRecord } from '@svc/contract';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SHARD_INDEX } from './candidates.js';
import { fingerprint, isComplete, lookAt, type Content } from './content.js';
import { earlierCheckpoints, STATE_FILE, type Registered, type Saved } from './saved-checkpoints.js';
import { readProgress } from './trainer-state.js';
import { hold, seen, writtenOn, type Settled, type Unsettled } from './unsettled.js';
import { WaitingCandidates } from './waiting-candidates.js';

const NAME = 'checkpoint-watcher';
/** More are not registered. */
const MAX_CHECKPOINTS = 10_000;
/** So many are looked at again and again; others wait. */
const MAX_UNSETTLED = 1000;
/** While others wait, so many of them may be held. */
const MAX_HELD = MAX_UNSETTLED / 2;
/** In one file of the spool. */
const REGISTERED_AT_ONCE = 100;
/** The clock of a file system is a little behind. */
const CLOCK_SLACK_MS = 50;
const LOOK_MS = 100;
const LOOK_EVERY_MS = 1000;
/** Looking for who has files open takes at most this part of the time. */
const SCAN_SHARE = 1 / 20;
/** What was written so shortly before the end of a training that failed may be cut off. */
const CUT_OFF_MS = 10_000;
/** So long the report of an end waits for those that have not been looked at yet; for that of an attempt that somebody has stopped, only until they may settle. */
const REST_MS = 20_000;

type Context = Pick<AgentPluginContext, 'log' | 'signal'>;
type Attempt = Pick<ReportingAttempt, 'job_id' | 'attempt' | 'startedAt' | 'runId' | 'paths'>;

/** The checkpoints of one attempt: which are registered, and which are still being written. */
export class AttemptCheckpoints implements JobFilesFollower {
  readonly #registered: Map<string, Registered>;
  /** Those of earlier attempts, until they are written again or are gone. */
  readonly #earlier: Map<string, Registered>;
  readonly #unsettled = new Map<string, Unsettled>();
  /** For which there was no room among those. */
  readonly #waiting = new WaitingCandidates();
  /** When each of them had been written, in ms: it counts once it is written again. */
  readonly #ignored = new Map<string, number>();
  readonly #paths: RunPaths;
  /** Not before may it be looked for who has files open, by the monotonic clock, in ms. */
  #scanAt = 0;
  /** Warnings that the run has. */
  readonly #told = new Set<string>();
  readonly #troubles: Troubles;
  #isCutOff = false;

  private constructor(
    private readonly ctx: Context,
    private readonly attempt: Attempt,
    saved: Saved,
    private readonly isOwn: OwnFile,
    private readonly settleMs: number,
    private readonly most: number,
  ) {
    this.#registered = new Map(Object.entries(saved.registered));
    this.#earlier = new Map(Object.entries(saved.earlier));
    this.#paths = attempt.paths;
    this.#troubles = new Troubles(ctx.log, this.#about);
  }

  static async open(
    ctx: Context,
    attempt: Attempt,
    isOwn: OwnFile,
    settleMs: number,
    most = MAX_CHECKPOINTS,
  ): Promise<AttemptCheckpoints> {
    const saved = await loadJson<Saved>(path.join(attempt.paths.dir, STATE_FILE));
    const state = saved ?? { registered: {}, earlier: await earlierCheckpoints(attempt) };
    return new AttemptCheckpoints(ctx, attempt, state, isOwn, settleMs, most);
  }

  /** Takes what a walk has found: new candidates, and what is gone. */
  async take({ found }: Pick<Walked, 'found'>): Promise<boolean> {
    const isTold = await this.#tryTo('checkpoints cannot be looked after now', () => this.#findChanged());
    this.#waiting.renew(await this.#findFresh(found));
    this.#letIn();
    return !isTold;
  }

  work(): Promise<void> {
    return this.settle();
  }

  pauseMs(): number {
    return Math.min(LOOK_EVERY_MS, this.settleMs / 2);
  }

  finish(ended?: CollectedEnd): Promise<void> {
    const isCutOff = ended?.exit.kind !== 'exited' || ended.exit.code !== 0;
    const settlingMs = this.settleMs + LOOK_MS;
    return this.settleRest({ isCutOff, mostMs: ended?.wasStopped ? settlingMs : REST_MS + settlingMs });
  }

  async #findFresh(found: readonly FoundFile[]): Promise<FoundFile[]> {
    const fresh: FoundFile[] = [];
    for (const file of found)
      if (!this.#isKnown(file.path) && !(await this.#isIgnored(file))) fresh.push(file);
    return fresh;
  }

  /** Gives those that wait their turns, as far as there is room. */
  #letIn(): void {
    for (const [candidate, sighting] of this.#waiting.inTurn()) {
      if (!this.#isKnown(candidate)) {
        if (!this.#hasRoom()) return;
        this.#ignored.delete(candidate);
        this.#unsettled.set(candidate, seen(candidate, sighting));
      }
      this.#waiting.delete(candidate);
    }
  }

  #isKnown(candidate: string): boolean {
    return [this.#registered, this.#earlier, this.#unsettled].some((each) => each.has(candidate));
  }

  async #isIgnored({ path: candidate, stats }: FoundFile): Promise<boolean> {
    const writtenAt = this.#ignored.get(candidate);
    if (writtenAt === undefined) return false;
    const hasMembers = stats.isDirectory() || SHARD_INDEX.test(candidate);
    const modifiedAt = hasMembers ? (await lookAt(candidate))?.modifiedAt : Math.round(stats.mtimeMs);
    return modifiedAt === undefined || modifiedAt === writtenAt;
  }

  /** The oldest of those that never become whole give way, once they take much of the room. */
  #hasRoom(): boolean {
    if (this.#unsettled.size < MAX_UNSETTLED) return true;
    const held = [...this.#unsettled].filter(([, { isHeld }]) => isHeld);
    if (held.length <= MAX_HELD) return false;
    const [candidate, { modifiedAt }] = held[0]!;
    this.ctx.log.warn('a checkpoint that did not become whole is given up', {
      ...this.#about,
      path: candidate,
    });
    this.#ignore(candidate, modifiedAt);
    return true;
  }

  /** Registers what has settled. `isLast`: without regard to what looking costs. */
  async settle({ isLast = false } = {}): Promise<void> {
    this.#letIn();
    const mayScan = isLast || performance.now() >= this.#scanAt;
    const settled: Settled[] = [];
    for (const [candidate, unsettled] of this.#unsettled) {
      if (this.ctx.signal.aborted) return;
      const content = await this.#orNull(candidate, () => this.#settle(candidate, unsettled, mayScan));
      if (content) settled.push({ candidate, unsettled, content });
    }
    if (settled.length > 0) await this.#registerAll(settled);
  }

  /** Must hold: all processes of the host are looked through once for all of them, and seldom where that takes long. */
  async #registerAll(settled: readonly Settled[]): Promise<void> {
    const begun = performance.now();
    const written = await placesWritten(settled.map(({ content }) => content.path));
    this.#scanAt = performance.now() + (performance.now() - begun) / SCAN_SHARE;
    const free = settled.filter(({ unsettled, content }) => !written.has(content.path) || hold(unsettled));
    for (let first = 0; first < free.length && !this.ctx.signal.aborted; first += REGISTERED_AT_ONCE)
      await this.#tryTo('checkpoints cannot be registered now', () =>
        this.#register(free.slice(first, first + REGISTERED_AT_ONCE)),
      );
  }

  /**
   * At the end of the attempt: waits for what it has just written, as long as it takes to settle, and for those that have not been looked at, in all at most
   * `mostMs`. The run is told of the rest. `isCutOff`: it failed or was killed, perhaps while it wrote.
   */
  async settleRest({ isCutOff = false, mostMs = REST_MS } = {}): Promise<void> {
    this.#isCutOff = isCutOff;
    const latest = performance.now() + mostMs;
    let deadline = latest;
    for (let isBehind = true; !this.ctx.signal.aborted; isBehind = this.#waiting.size > 0) {
      // Must hold: the last look begins when what the last walk has found may have settled, however long the looks before it take.
      const begun = performance.now();
      await this.settle({ isLast: true });
      if (isBehind) deadline = Math.min(latest, performance.now() + this.settleMs + LOOK_MS);
      if (this.#unsettled.size + this.#waiting.size === 0 || begun >= deadline) break;
      await delay(LOOK_MS);
    }
    if (!this.ctx.signal.aborted) await this.#tellRest();
  }

  /** What was held is not whole. */
  async #tellRest(): Promise<void> {
    const unsettled = [...this.#unsettled].filter(([, { isHeld }]) => !isHeld);
    const rest = [...unsettled.map(([candidate]) => candidate), ...this.#waiting.paths()];
    if (rest.length === 0) return;
    const title = 'Some checkpoints were not registered when the job had ended, as that took too long';
    const message = `${rest[0]} is one of ${rest.length} files and folders that may be checkpoints. Report those that count with \`run.checkpoint(path)\` of the SDK, or name the checkpoints with the options \`files\` and \`directories\` of checkpoint-watcher, so that files of data are not looked at.`;
    this.ctx.log.warn(title, { ...this.#about, count: rest.length, first: rest[0] });
    await this.#tryTo('a warning for the run is lost', () => this.#warnOnce('not looked at', title, message));
  }

  /** What it is if it is still, whole and the attempt's. */
  async #settle(candidate: string, unsettled: Unsettled, mayScan: boolean): Promise<Content | null> {
    const content = await lookAt(candidate);
    if (content === null) return this.#unlessComing(candidate, unsettled);
    const { modifiedAt } = content;
    if (modifiedAt < this.attempt.startedAt - CLOCK_SLACK_MS) return this.#ignore(candidate, modifiedAt);
    if (await this.#isOfAnother(content)) return this.#ignore(candidate, modifiedAt);
    const now = performance.now();
    // While it is being written, the process that does so tells whose it is.
    unsettled.isOwn ??= await this.isOwn(toWritten(content));
    if (content.stamp !== unsettled.stamp)
      Object.assign(unsettled, { stamp: content.stamp, modifiedAt, since: now });
    if (unsettled.isOwn === false) return this.#ignore(candidate, modifiedAt);
    if (now - unsettled.since < this.settleMs) return null;
    if (unsettled.isOwn === null) return this.#leaveOut(candidate, content);
    if (!mayScan) return null;
    const isSure = this.#isCutOff && modifiedAt > Date.now() - CUT_OFF_MS;
    if (await isComplete(content, { isSure })) return content;
    hold(unsettled);
    return null;
  }

  /** Must hold: with `--run-as` nothing is read for a job that it may not read itself. */
  async #isOfAnother({ members }: Content): Promise<boolean> {
    for (const member of members) if (await isOfAnother(member, this.#paths.spool)) return true;
    return false;
  }

  /** An index may be there before the files that it names; anything else is gone. */
  #unlessComing(candidate: string, unsettled: Unsettled): null {
    if (candidate.endsWith('.json')) Object.assign(unsettled, { modifiedAt: 0, isHeld: true });
    else this.#forget(candidate);
    return null;
  }

  /** The run is told once for each attempt. */
  async #leaveOut(candidate: string, { path: at, modifiedAt }: Content): Promise<null> {
    const title = 'A checkpoint is left out: it cannot be told which of the jobs in its folder wrote it';
    this.ctx.log.warn(title, { ...this.#about, path: at });
    const message = `${at}: call \`run.checkpoint(path)\` of the SDK, or run each job in a folder of its own (\`svc submit --upload\` makes one).`;
    await this.#warnOnce('left out', title, message);
    return this.#ignore(candidate, modifiedAt);
  }

  /** The run is told once for each attempt. */
  async #leaveOutBeyond(candidate: string, { path: at, modifiedAt }: Content): Promise<null> {
    const title = `There are more than ${this.most} checkpoints`;
    const message = `${at} and others are not registered. Report those that count with \`run.checkpoint(path)\` of the SDK, or let the training remove old ones.`;
    await this.#warnOnce('too many', title, message);
    return this.#ignore(candidate, modifiedAt);
  }

  /** Each warning once for each attempt. */
  async #warnOnce(key: string, title: string, message: string): Promise<void> {
    if (this.#told.has(key)) return;
    const { runId: run_id, attempt } = this.attempt;
    const body = { title, message, severity: 'warning' as const };
    await this.#leave([{ kind: 'event', run_id, key: `${NAME} ${attempt} ${key}`, ts: Date.now(), body }]);
    this.#told.add(key);
  }

  #ignore(candidate: string, modifiedAt: number): null {
    this.#forget(candidate);
    this.#ignored.set(candidate, modifiedAt);
    return null;
  }

  #forget(candidate: string): void {
    this.#unsettled.delete(candidate);
    this.#troubles.over(candidate);
  }

  async #register(settled: readonly Settled[]): Promise<void> {
    const records: SpoolRecord[] = [];
    const registered: [candidate: string, Registered][] = [];
    let room = this.most - this.#registered.size;
    for (const { candidate, content } of settled) {
      const isNew = !this.#registered.has(candidate);
      const record = await this.#orNull(candidate, () =>
        isNew && room <= 0 ? this.#leaveOutBeyond(candidate, content) : this.#toRecord(candidate, content),
      );
      if (record === null) continue;
      if (isNew) room -= 1;
      records.push(record);
      registered.push([candidate, { at: content.path, stamp: hashOf(content.stamp) }]);
    }
    if (records.length === 0) return;
    await this.#leave(records);
    for (const [candidate, facts] of registered) {
      this.#forget(candidate);
      this.#registered.set(candidate, facts);
    }
    await this.#save();
    const paths = registered.map(([, { at }]) => at);
    this.ctx.log.info('checkpoints were found', { ...this.#about, count: paths.length, first: paths[0] });
  }

  /** null: not now. */
  async #toRecord(candidate: string, content: Content): Promise<SpoolRecord | null> {
    const { path: at, size, modifiedAt, members } = content;
    const print = await fingerprint(content);
    const progress = await readProgress(content);
    // It was written on while it was read.
    if ((await lookAt(candidate))?.stamp !== content.stamp) return null;
    const metadata = { fingerprint: print, modified_at: modifiedAt, files: members.length };
    const body = { path: at, size, ...progress, metadata };
    return { kind: 'checkpoint', run_id: this.attempt.runId, ts: modifiedAt, source: 'watcher', body };
  }

  /** What is gone is told, and what was written on is registered again once it is still: the server then has its new facts. */
  async #findChanged(): Promise<void> {
    const gone = new Map<string, SpoolRecord>();
    for (const [candidate, { at, stamp }] of this.#registered) {
      const content = await lookAt(candidate);
      if (content === null) gone.set(candidate, this.#toGone(at));
      else if (hashOf(content.stamp) !== stamp && !this.#unsettled.has(candidate))
        this.#unsettled.set(candidate, writtenOn());
    }
    for (const [candidate, { at, stamp }] of this.#earlier) {
      const content = await lookAt(candidate);
      const isThere = content !== null && hashOf(content.stamp) === stamp;
      if (!isThere) gone.set(candidate, this.#toGone(at, { earlier: true }));
    }
    if (gone.size === 0) return;
    await this.#leave([...gone.values()]);
    for (const candidate of gone.keys())
      for (const all of [this.#registered, this.#earlier]) all.delete(candidate);
    await this.#save();
  }

  #toGone(at: string, of: { earlier?: true } = {}): SpoolRecord {
    const { runId: run_id } = this.attempt;
    return { kind: 'checkpoint_gone', run_id, ts: Date.now(), body: { path: at, ...of } };
  }

  #leave(records: readonly SpoolRecord[]): Promise<void> {
    return leaveInSpool(this.#paths, NAME, records);
  }

  /** When it is behind, a checkpoint is registered again, which changes nothing. */
  async #save(): Promise<void> {
    const [registered, earlier] = [this.#registered, this.#earlier].map((each) => Object.fromEntries(each));
    const saved = { registered, earlier } as Saved;
    await writeAtomic(path.join(this.#paths.dir, STATE_FILE), saved);
  }

  /** null also where it fails for this candidate, which is tried again. */
  async #orNull<T>(candidate: string, work: () => Promise<T | null>): Promise<T | null> {
    return work().catch((error: unknown) => {
      const message = 'a checkpoint cannot be registered now';
      this.#troubles.tell(candidate, message, error, { path: candidate });
      return null;
    });
  }

  /** Whether it went well. If not, the log tells it once. */
  async #tryTo(message: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#troubles.over(message);
      return true;
    } catch (error) {
      this.#troubles.tell(message, message, error);
      return false;
    }
  }

  get #about() {
    const { job_id, attempt } = this.attempt;
    return { job_id, attempt };
  }
}

function hashOf(stamp: string): string {
  return createHash('sha256').update(stamp).digest('base64');
}

function toWritten({ path, modifiedAt, members }: Content): WrittenFile {
  return { path, writtenAt: modifiedAt, files: members };
}
