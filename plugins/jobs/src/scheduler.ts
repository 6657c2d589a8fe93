import type { PluginContext, Timer } from '@svc/kernel';
import type { Nodes } from '@svc/plugin-nodes';
import type { Dispatcher } from './dispatch.js';
import { jobOrder, type QueuedJob } from './hooks.js';
import type { Timing } from './options.js';
import { FAILED_HERE } from './pending-reason.js';
import { planPass } from './plan-pass.js';
import type { Queue } from './queue.js';
import type { QueuedRow } from './queue-store.js';
import type { Retrier } from './retry.js';
import type { Placement } from './steps.js';
import type { Sweeper } from './sweep.js';

/** A pass that took longer is followed by a pause as long as itself, so that wake-ups in a row leave half of the time to others. */
const LONG_PASS_MS = 20;

/** Passes over the queue: one at a time, on a tick and whenever something has changed. */
export class Scheduler {
  #tick: Timer | null = null;
  #pause: Timer | null = null;
  #pass: Promise<void> | null = null;
  #isAwaited = false;
  /** The next pass reads the whole queue anew. */
  #isTicked = false;

  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly parts: { queue: Queue; dispatcher: Dispatcher; retrier: Retrier; sweeper: Sweeper },
    private readonly timing: Timing,
  ) {}

  start(): void {
    this.#tick = this.ctx.clock.setInterval(() => {
      this.#isTicked = true;
      this.wake();
    }, this.timing.tickMs);
    this.wake();
  }

  /** There may be something to do. Wake-ups during a pass make one more. */
  wake(): void {
    if (!this.#tick || this.ctx.signal.aborted) return;
    this.#isAwaited = true;
    if (this.#pass || this.#pause) return;
    this.#pass = this.#run().finally(() => {
      this.#pass = null;
      if (this.#isAwaited && !this.#pause) this.wake();
    });
  }

  /** Resolves once the running pass is over; no other begins. */
  async close(): Promise<void> {
    this.#tick?.clear();
    this.#pause?.clear();
    this.#tick = null;
    await this.#pass;
  }

  async #run(): Promise<void> {
    this.#isAwaited = false;
    const whole = this.#isTicked;
    this.#isTicked = false;
    const startedAt = this.ctx.clock.now();
    try {
      await this.pass({ whole });
    } catch (err) {
      this.ctx.log.error({ err }, 'a scheduling pass failed; the next tick makes another');
    }
    const tookMs = this.ctx.clock.now() - startedAt;
    if (tookMs > LONG_PASS_MS) this.#pauseFor(tookMs);
  }

  #pauseFor(ms: number): void {
    this.#pause = this.ctx.clock.setTimeout(
      () => {
        this.#pause = null;
        if (this.#isAwaited) this.wake();
      },
      Math.min(ms, this.timing.tickMs),
    );
  }

  /** One pass: what silent agents left behind, retries that are due, then the queue, read as a `whole` or kept up. */
  async pass({ whole }: { whole: boolean }): Promise<void> {
    const { db, clock } = this.ctx;
    const { queue, retrier, sweeper } = this.parts;
    const nodes = await this.nodes.capacity(db);
    await sweeper.sweep(nodes);
    await retrier.retryDue();
    const rows = await this.#order(await queue.read(db, { whole }));
    if (rows.length === 0) return;
    const now = clock.now();
    const { starvationAfterMs, backoff } = this.timing;
    const { runners } = this.ctx.registered;
    const isExternal = (runner: string) => runners.get(runner)?.placement === 'external';
    const context = { now, starvationAfterMs, backoffMaxMs: backoff.maxMs, isExternal };
    const plan = await planPass(rows, nodes, context);
    const failed = new Map<string, string>();
    for (const placement of plan.placements) {
      if (this.ctx.signal.aborted) return;
      if (!(await this.#place(placement))) failed.set(placement.job_id, FAILED_HERE);
    }
    await queue.tell(db, rows, plan.reasons);
    await queue.tell(db, rows, failed);
    await queue.setHeads(db, rows, plan.newHeads, now);
  }

  /**
   * One job that cannot be claimed must not keep the others waiting. False when that is the server's fault; a slot or a job
   * that somebody else was quicker to take is none, and whoever took it has woken the next pass.
   */
  async #place(placement: Placement): Promise<boolean> {
    try {
      await this.parts.dispatcher.place(placement);
      return true;
    } catch (err) {
      this.ctx.log.error(
        { err, job_id: placement.job_id },
        'a job could not be claimed for its node; the next pass tries again',
      );
      return false;
    }
  }

  /** What a tap adds is ignored, and what it leaves out comes last: a job is never lost here. */
  async #order(queue: readonly QueuedRow[]): Promise<readonly QueuedRow[]> {
    const given: readonly QueuedJob[] = queue;
    const ordered = await this.ctx.fire(jobOrder, given);
    if (ordered === given) return queue;
    const rest = new Map(queue.map((row) => [row.id, row]));
    const named = ordered.flatMap(({ id }) => {
      const row = rest.get(id);
      rest.delete(id);
      return row ? [row] : [];
    });
    return [...named, ...rest.values()];
  }
}
