import type { PluginContext } from '@svc/kernel';
import type { NodeCapacity, Nodes } from '@svc/plugin-nodes';
import { isAttemptAt, type Dispatcher } from './dispatch.js';
import type { JobRow } from './job-row.js';
import { getAttemptRow, lockAttemptRow } from './job-store.js';
import type { Timing } from './options.js';
import { ackTimeoutStep, lostStep } from './steps.js';
import type { Transitions } from './transition.js';

type ActiveJob = Pick<JobRow, 'id' | 'attempt' | 'status' | 'node_id' | 'dispatched_at'>;

/** Finds jobs whose agent does not report: their node is OFFLINE, or the server stopped before it could wait for an acknowledgement. */
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
        await this.#sweepJob(job, node).catch((err: unknown) =>
          this.ctx.log.error(
            { err, job_id: job.id },
            'the state of a job could not be checked; the next pass tries again',
          ),
        );
    }
  }

  async #sweepJob(job: ActiveJob, node: NodeCapacity): Promise<void> {
    if (node.status === 'OFFLINE') await this.#markLost(job, node);
    else if (job.status === 'DISPATCHING') await this.#reconnectUnacknowledged(job, node);
  }

  /**
   * The slots stay held: only the agent can say that nothing runs on them any more. The status of the node is read again within the
   * transaction, as a hello may have come in the meantime.
   */
  async #markLost({ id, attempt }: ActiveJob, node: NodeCapacity): Promise<void> {
    const key = { job_id: id, attempt };
    const why = `${node.name} is OFFLINE`;
    await this.transitions.apply(id, async (row, trx, at) => {
      if (!isAttemptAt(row, key, node) || (await this.nodes.get(trx, node.id))?.status !== 'OFFLINE')
        return null;
      if (row.status === 'DISPATCHING' && (await lockAttemptRow(trx, key))?.accepted_at === null) {
        return ackTimeoutStep(
          this.nodes,
          row,
          { why: `${why}; it is dispatched again`, undelivered: false },
          at,
        );
      }
      const message = `${why}: its agent has sent no heartbeat, so the state of the job is unknown`;
      return lostStep(
        this.nodes,
        row,
        { message, gone: false, retryAt: (node.offline_at ?? at) + this.timing.lostRetryAfterMs },
        at,
      );
    });
  }

  /** The server waits for no acknowledgement of this dispatch and has none: the agent's next hello says whether it has the job. */
  async #reconnectUnacknowledged(
    { id, attempt, dispatched_at }: ActiveJob,
    node: NodeCapacity,
  ): Promise<void> {
    const key = { job_id: id, attempt };
    const isOld = Math.abs(this.ctx.clock.now() - (dispatched_at ?? 0)) > this.timing.ackTimeoutMs;
    if (!isOld || !node.connected || this.dispatcher.isPending(key, node)) return;
    if ((await getAttemptRow(this.ctx.db, key))?.accepted_at !== null) return;
    this.nodes.reconnect(node.id, `job ${id} was not acknowledged`);
  }
}
