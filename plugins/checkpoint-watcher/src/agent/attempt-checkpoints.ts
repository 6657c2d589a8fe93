import { toReason, type AgentPluginContext, type RunPaths, type StartedAttempt } from '@svc/agent';
import type { WrittenFile } from '@svc/agent/attempt-owners';
import { loadJson, writeAtomic } from '@svc/agent/durable-file';
import { isOfAnother } from '@svc/agent/file-owner';
import type { Walked } from '@svc/agent/job-files';
import { placesWritten } from '@svc/agent/open-files';
import { leaveInSpool } from '@svc/agent/spool-records';
import type { SpoolRecord } from '@svc/contract';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fingerprint, isComplete, lookAt, type Content } from './content.js';
import { readProgress } from './trainer-state.js';

const NAME = 'checkpoint-watcher';
const STATE_FILE = 'checkpoint-watcher.json';
/** More are not registered. */
const MAX_CHECKPOINTS = 10_000;
const MAX_UNSETTLED = 1000;
/** The clock of a file system is a little behind. */
const CLOCK_SLACK_MS = 50;
const LOOK_MS = 100;
/** Looking for who has files open takes at most this part of the time. */
const SCAN_SHARE = 1 / 20;
/** What was written so shortly before the end of a training that failed may be cut off. */
const CUT_OFF_MS = 10_000;

/** What is being written, or seems so. */
interface Unsettled {
  stamp: string;
  /** Since then the stamp is the same, by the monotonic clock, in ms. */
  since: number;
  isOwn: boolean | null;
  /** It was still once, and yet not whole, or open for writing. */
  isHeld: boolean;
}

/** It is still and whole; what is not known is whether somebody has it open. */
interface Settled {
  readonly candidate: string;
  readonly unsettled: Unsettled;
  readonly content: Content;
}

/** The path of a checkpoint that is registered, and a hash of the stamp that it had. */
interface Registered {
  readonly at: string;
  readonly stamp: string;
}

/** `checkpoint-watcher.json` in the attempt's directory, by the path of the candidate. */
interface Saved {
  readonly registered: Record<string, Registered>;
}

/** Whether the attempt wrote it; null: that cannot be told. */
export type OwnFile = (file: WrittenFile) => Promise<boolean | null>;

type Context = Pick<AgentPluginContext, 'log' | 'signal'>;
type Attempt = Pick<StartedAttempt, 'job_id' | 'attempt' | 'startedAt'> & { readonly runId: string };

/** The checkpoints of one attempt: which are registered, and which are still being written. */
export class AttemptCheckpoints {
  readonly #registered: Map<string, Registered>;
  readonly #unsettled = new Map<string, Unsettled>();
  readonly #ignored = new Set<string>();
  /** Not before may it be looked for who has files open, by the monotonic clock, in ms. */
  #scanAt = 0;
  #isLeftOutTold = false;
  #isCutOff = false;

  private constructor(
    private readonly ctx: Context,
    private readonly attempt: Attempt,
    private readonly paths: RunPaths,
    saved: Saved | null,
    private readonly isOwn: OwnFile,
    private readonly settleMs: number,
  ) {
    this.#registered = new Map(Object.entries(saved?.registered ?? {}));
  }

  static async open(
    ctx: Context,
    attempt: Attempt,
    paths: RunPaths,
    isOwn: OwnFile,
    settleMs: number,
  ): Promise<AttemptCheckpoints> {
    const saved = await loadJson<Saved>(path.join(paths.dir, STATE_FILE));
    return new AttemptCheckpoints(ctx, attempt, paths, saved, isOwn, settleMs);
  }

  /** Takes what a walk has found: new candidates, and what is gone. */
  async take({ found }: Pick<Walked, 'found'>): Promise<void> {
    for (const { path: candidate } of found) {
      const isKnown = this.#registered.has(candidate) || this.#ignored.has(candidate);
      if (isKnown || this.#unsettled.has(candidate) || !this.#hasRoom()) continue;
      this.#unsettled.set(candidate, { stamp: '', since: 0, isOwn: null, isHeld: false });
    }
    await this.#findChanged();
  }

  /** The oldest of those that never become whole give way. */
  #hasRoom(): boolean {
    if (this.#unsettled.size < MAX_UNSETTLED) return true;
    for (const [candidate, { isHeld }] of this.#unsettled) {
      if (!isHeld) continue;
      this.ctx.log.warn('a checkpoint that did not become whole is given up', {
        ...this.#about,
        path: candidate,
      });
      this.#ignore(candidate);
      return true;
    }
    return false;
  }

  /** Registers what has settled. `isLast`: without regard to what looking costs. */
  async settle({ isLast = false } = {}): Promise<void> {
    const mayScan = isLast || performance.now() >= this.#scanAt;
    const settled: Settled[] = [];
    for (const [candidate, unsettled] of this.#unsettled) {
      if (this.ctx.signal.aborted) return;
      const content = await this.#settle(candidate, unsettled, mayScan).catch((error: unknown) => {
        this.#complain(candidate, error);
        return null;
      });
      if (content) settled.push({ candidate, unsettled, content });
    }
    if (settled.length > 0) await this.#registerAll(settled);
  }

  /** Must hold: all processes of the host are looked through once for all of them, and seldom where that takes long. */
  async #registerAll(settled: readonly Settled[]): Promise<void> {
    const begun = performance.now();
    const written = await placesWritten(settled.map(({ content }) => content.path));
    this.#scanAt = performance.now() + (performance.now() - begun) / SCAN_SHARE;
    for (const { candidate, unsettled, content } of settled) {
      if (this.ctx.signal.aborted) return;
      if (written.has(content.path)) hold(unsettled);
      else
        await this.#register(candidate, content).catch((error: unknown) => this.#complain(candidate, error));
    }
  }

  /**
   * At the end of the attempt: waits for what it has just written, at most as long as it takes to settle. `isCutOff`: it failed or was killed, perhaps while it
   * wrote.
   */
  async settleRest({ isCutOff = false } = {}): Promise<void> {
    this.#isCutOff = isCutOff;
    const deadline = performance.now() + this.settleMs + LOOK_MS;
    await this.settle({ isLast: true });
    while (this.#unsettled.size > 0 && performance.now() < deadline && !this.ctx.signal.aborted) {
      await delay(LOOK_MS);
      await this.settle({ isLast: true });
    }
  }

  /** What it is if it is still, whole and the attempt's. */
  async #settle(candidate: string, unsettled: Unsettled, mayScan: boolean): Promise<Content | null> {
    const content = await lookAt(candidate);
    if (content === null) return this.#unlessComing(candidate);
    if (content.modifiedAt < this.attempt.startedAt - CLOCK_SLACK_MS) return this.#ignore(candidate);
    if (await this.#isOfAnother(content)) return this.#ignore(candidate);
    const now = performance.now();
    // While it is being written, the process that does so tells whose it is.
    unsettled.isOwn ??= await this.isOwn(toWritten(content));
    if (content.stamp !== unsettled.stamp) Object.assign(unsettled, { stamp: content.stamp, since: now });
    if (unsettled.isOwn === false) return this.#ignore(candidate);
    if (now - unsettled.since < this.settleMs) return null;
    if (unsettled.isOwn === null) return this.#leaveOut(candidate, content.path);
    if (!mayScan) return null;
    const isSure = this.#isCutOff && content.modifiedAt > Date.now() - CUT_OFF_MS;
    if (await isComplete(content, { isSure })) return content;
    hold(unsettled);
    return null;
  }

  /** Must hold: with `--run-as` nothing is read for a job that it may not read itself. */
  async #isOfAnother({ members }: Content): Promise<boolean> {
    for (const member of members) if (await isOfAnother(member, this.paths.spool)) return true;
    return false;
  }

  /** An index may be there before the files that it names; anything else is gone. */
  #unlessComing(candidate: string): null {
    if (!candidate.endsWith('.json')) this.#unsettled.delete(candidate);
    return null;
  }

  /** The run is told once for each attempt. */
  async #leaveOut(candidate: string, at: string): Promise<null> {
    this.#ignore(candidate);
    const title = 'A checkpoint is left out: it cannot be told which of the jobs in its folder wrote it';
    this.ctx.log.warn(title, { ...this.#about, path: at });
    if (this.#isLeftOutTold) return null;
    this.#isLeftOutTold = true;
    const message = `${at}: call \`run.checkpoint(path)\` of the SDK, or run each job in a folder of its own (\`svc submit --upload\` makes one).`;
    const { runId, attempt } = this.attempt;
    await this.#leave({
      kind: 'event',
      run_id: runId,
      key: `${NAME} ${attempt} left out`,
      ts: Date.now(),
      body: { title, message, severity: 'warning' },
    });
    return null;
  }

  #ignore(candidate: string): null {
    this.#unsettled.delete(candidate);
    this.#ignored.add(candidate);
    return null;
  }

  async #register(candidate: string, content: Content): Promise<void> {
    if (this.#registered.size >= MAX_CHECKPOINTS && !this.#registered.has(candidate))
      return void this.#ignore(candidate);
    const print = await fingerprint(content);
    const progress = await readProgress(content);
    // It was written on while it was read.
    if ((await lookAt(candidate))?.stamp !== content.stamp) return;
    const { path: at, size, modifiedAt, members } = content;
    const metadata = { fingerprint: print, modified_at: modifiedAt, files: members.length };
    await this.#leave({
      kind: 'checkpoint',
      run_id: this.attempt.runId,
      ts: modifiedAt,
      source: 'watcher',
      body: { path: at, size, ...progress, metadata },
    });
    this.#unsettled.delete(candidate);
    this.#registered.set(candidate, { at, stamp: hashOf(content.stamp) });
    await this.#save();
    this.ctx.log.info('a checkpoint was found', { ...this.#about, path: at, size });
  }

  /** What is gone is told, and what was written on is registered again once it is still: the server then has its new facts. */
  async #findChanged(): Promise<void> {
    for (const [candidate, { at, stamp }] of this.#registered) {
      const content = await lookAt(candidate);
      if (content !== null) {
        if (hashOf(content.stamp) !== stamp && !this.#unsettled.has(candidate))
          this.#unsettled.set(candidate, { stamp: '', since: 0, isOwn: true, isHeld: false });
        continue;
      }
      const gone = {
        kind: 'checkpoint_gone',
        run_id: this.attempt.runId,
        ts: Date.now(),
        body: { path: at },
      } as const;
      await this.#leave(gone);
      this.#registered.delete(candidate);
      await this.#save();
    }
  }

  #leave(record: SpoolRecord): Promise<void> {
    return leaveInSpool(this.paths, NAME, [record]);
  }

  /** When it is behind, a checkpoint is registered again, which changes nothing. */
  async #save(): Promise<void> {
    const saved: Saved = { registered: Object.fromEntries(this.#registered) };
    await writeAtomic(path.join(this.paths.dir, STATE_FILE), saved);
  }

  #complain(candidate: string, error: unknown): void {
    this.ctx.log.warn('a checkpoint cannot be registered now', {
      ...this.#about,
      path: candidate,
      reason: toReason(error),
    });
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

function hold(unsettled: Unsettled): void {
  unsettled.since = performance.now();
  unsettled.isHeld = true;
}
