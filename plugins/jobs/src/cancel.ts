import { fail, type PluginContext } from '@svc/kernel';
import type { Nodes } from '@svc/plugin-nodes';
import type { Dispatcher } from './dispatch.js';
import type { JobRow } from './job-row.js';
import { lockRow } from './job-store.js';
import type { Timing } from './options.js';
import { cancelStep } from './steps.js';
import type { Transitions } from './transition.js';

export type CancelResult = 'CANCELLED' | 'cancel-requested';

/** The cancel is tried again if the job changes at the same time. */
const MAX_TRIES = 10;

/** Cancels a job without a process at once, and otherwise asks the agent to stop it. */
export class Canceller {
  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly transitions: Transitions,
    private readonly dispatcher: Dispatcher,
    private readonly timing: Timing,
  ) {}

  async cancel(jobId: string): Promise<CancelResult> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const row = (await this.#requestCancel(jobId)) ?? fail('not_found', `no job "${jobId}"`);
      switch (row.status) {
        case 'CANCELLED':
          return 'CANCELLED';
        case 'SUCCEEDED':
        case 'FAILED':
          return fail('conflict', `${row.id} has ended already: it is ${row.status}`, { status: row.status });
        case 'DISPATCHING':
        case 'RUNNING':
          this.#stop(row);
          return 'cancel-requested';
        default:
          if (await this.#cancelAtOnce(jobId)) return 'CANCELLED';
      }
    }
    return fail('conflict', 'the job is changing all the time; try again');
  }

  /** Stores the cancel request of a job that may have a process. Returns the job's row. */
  #requestCancel(jobId: string): Promise<JobRow | null> {
    return this.ctx.db.transaction(async (trx) => {
      const row = await lockRow(trx, jobId);
      if (row?.cancel_requested_at !== null || !['DISPATCHING', 'RUNNING'].includes(row.status)) return row;
      await trx<JobRow>('jobs').where({ id: jobId }).update({ cancel_requested_at: this.ctx.clock.now() });
      return row;
    });
  }

  /** If the node is not connected, the answer to its next hello contains the stop. */
  #stop({ id, attempt, node_id }: JobRow): void {
    const key = { job_id: id, attempt };
    if (node_id === null || !this.dispatcher.cancel(key, { id: node_id })) return;
    this.nodes.send(node_id, { type: 'stop', ...key, grace_ms: this.timing.killGraceMs });
  }

  async #cancelAtOnce(jobId: string): Promise<boolean> {
    const change = await this.transitions.apply(jobId, (row, _trx, at) =>
      row.status === 'QUEUED' || row.status === 'LOST' ? cancelStep(row, at) : null,
    );
    return change !== null;
  }
}
