import type { PluginContext } from '@svc/kernel';
import type { NodeCapacity, Nodes } from '@svc/plugin-nodes';
import { isAt, type Dispatcher } from './dispatch.js';
import type { JobRow } from './job-row.js';
import { getAttemptRow, lockAttemptRow } from './job-store.js';
import type { Timing } from './options.js';
import { ackTimeoutStep, lostStep } from './steps.js';
import type { Transitions } from './transition.js';

type ActiveJob = Pick<JobRow, 'id' | 'attempt' | 'status' | 'node_id' | 'dispatched_at'>;

/** Looks after jobs whose agent says nothing: their node is OFFLINE, or a dispatch was forgotten by a failing server. */
export class Sweeper {
  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly transitions: Transitions,
    private readonly dispatcher: Dispatcher,
    private readonly timing: Timing,
  ) {}

  async sweep(nodes: readonly NodeCapacity[]): Promise<void> {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const active = await this.ctx
      .db<JobRow>('jobs')
      .whereIn('status', ['DISPATCHING', 'RUNNING'])
      .select('id', 'attempt', 'status', 'node_id', 'dispatched_at');
    for (const job of active) {
      const node = job.node_id === null ? undefined : byId.get(job.node_id);
      if (node)
        await this.#lookAfter(job, node).catch((err: unknown) =>
          this.ctx.log.error(
            { err, job_id: job.id },
            'a job could not be looked after; the next pass tries again',
          ),
        );
    }
  }

  async #lookAfter(job: ActiveJob, node: NodeCapacity): Promise<void> {
    if (node.status === 'OFFLINE') await this.#loseWith(job, node);
    else if (job.status === 'DISPATCHING') await this.#askAbout(job, node);
  }

  /**
   * Its slots stay held: only the agent can say that nothing runs on them any more. The node is looked at again within the
   * transaction: a hello in between has said the truth already.
   */
  async #loseWith({ id, attempt }: ActiveJob, node: NodeCapacity): Promise<void> {
    const key = { job_id: id, attempt };
    const why = `${node.name} is OFFLINE`;
    await this.transitions.apply(id, async (row, trx, at) => {
      if (!isAt(row, key, node) || (await this.nodes.get(trx, node.id))?.status !== 'OFFLINE') return null;
      if (row.status === 'DISPATCHING' && (await lockAttemptRow(trx, key))?.accepted_at === null) {
        return ackTimeoutStep(
          this.nodes,
          row,
          { why: `${why}; it is dispatched again`, undelivered: false },
          at,
        );
      }
      const message = `${why}: its agent has sent no heartbeat, so nobody knows how the job does`;
      return lostStep(
        this.nodes,
        row,
        { message, gone: false, retryAt: (node.offline_at ?? at) + this.timing.lostRetryAfterMs },
        at,
      );
    });
  }

  /** A dispatch that nobody waits for and nobody acknowledged: the agent's next hello tells. */
  async #askAbout({ id, attempt, dispatched_at }: ActiveJob, node: NodeCapacity): Promise<void> {
    const key = { job_id: id, attempt };
    const isOld = Math.abs(this.ctx.clock.now() - (dispatched_at ?? 0)) > this.timing.ackTimeoutMs;
    if (!isOld || !node.connected || this.dispatcher.isPending(key, node)) return;
    if ((await getAttemptRow(this.ctx.db, key))?.accepted_at !== null) return;
    this.nodes.reconnect(node.id, `nobody knows whether job ${id} has arrived`);
  }
}
