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

/** A longer pass is followed by a pause of the same length, so that frequent wake-ups leave half of the processor time to requests. */
const LONG_PASS_MS = 20;

/** Runs scheduling passes over the queue, one at a time, on a tick and after each `wake`. */
export class Scheduler {
  #tick: Timer | null = null;
  #pause: Timer | null = null;
  #pass: Promise<void> | null = null;
  #isWakePending = false;
  /** The next pass reads the whole queue instead of the changes. */
  #needsFullRead = false;

  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly parts: { queue: Queue; dispatcher: Dispatcher; retrier: Retrier; sweeper: Sweeper },
    private readonly timing: Timing,
  ) {}

  start(): void {
    this.#tick = this.ctx.clock.setInterval(() => {
      this.#needsFullRead = true;
      this.wake();
    }, this.timing.tickMs);
    this.wake();
  }

  /** Asks for a pass. All wake-ups during a pass lead to one more pass. */
  wake(): void {
    if (!this.#tick || this.ctx.signal.aborted) return;
    this.#isWakePending = true;
    if (this.#pass || this.#pause) return;
    this.#pass = this.#run().finally(() => {
      this.#pass = null;
      if (this.#isWakePending && !this.#pause) this.wake();
    });
  }

  /** Resolves once the running pass is over; none starts after it. */
  async close(): Promise<void> {
    this.#tick?.clear();
    this.#pause?.clear();
    this.#tick = null;
    await this.#pass;
  }

  async #run(): Promise<void> {
    this.#isWakePending = false;
    const whole = this.#needsFullRead;
    this.#needsFullRead = false;
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
        if (this.#isWakePending) this.wake();
      },
      Math.min(ms, this.timing.tickMs),
    );
  }

  /** One pass: sweep jobs of silent agents, start due retries, then place queued jobs. `whole`: see `Queue.read`. */
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
    await queue.setReasons(db, rows, plan.reasons);
    await queue.setReasons(db, rows, failed);
    await queue.setHeads(db, rows, plan.newHeads, now);
  }

  /**
   * One job that cannot be claimed must not stop the pass. False after an error of the server. It is no error if another change has taken
   * the slot or the job first; that change has woken the scheduler.
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

  /** Jobs that a tap adds are ignored, and jobs that it leaves out come last: no tap can make a job disappear. */
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
