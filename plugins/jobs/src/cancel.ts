import { fail, type PluginContext } from '@svc/kernel';
import type { Nodes } from '@svc/plugin-nodes';
import type { Dispatcher } from './dispatch.js';
import type { JobRow } from './job-row.js';
import { lockRow } from './job-store.js';
import type { Timing } from './options.js';
import { cancelStep } from './steps.js';
import type { Transitions } from './transition.js';

export type CancelResult = 'CANCELLED' | 'cancel-requested';

/** A job that changes under the caller's hands is looked at again; it cannot go on changing for ever. */
const MAX_LOOKS = 10;

/** Cancels at once what has no process that could be told, and asks the agent otherwise. */
export class Canceller {
  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly transitions: Transitions,
    private readonly dispatcher: Dispatcher,
    private readonly timing: Timing,
  ) {}

  async cancel(jobId: string): Promise<CancelResult> {
    for (let look = 0; look < MAX_LOOKS; look++) {
      const row = (await this.#request(jobId)) ?? fail('not_found', `no job "${jobId}"`);
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

  /** Notes the wish on a job that has a process. Gives back the job as it stands then. */
  #request(jobId: string): Promise<JobRow | null> {
    return this.ctx.db.transaction(async (trx) => {
      const row = await lockRow(trx, jobId);
      if (row?.cancel_requested_at !== null || !['DISPATCHING', 'RUNNING'].includes(row.status)) return row;
      await trx<JobRow>('jobs').where({ id: jobId }).update({ cancel_requested_at: this.ctx.clock.now() });
      return row;
    });
  }

  /** Without a connection it waits: the agent's next hello is answered with it. */
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
