import type { AttemptKey } from '@svc/contract';
import { yieldIfSliceOver, type PluginContext } from '@svc/kernel';
import type { AgentNode, HelloContext, Nodes, WelcomePart } from '@svc/plugin-nodes';
import { isAttemptAt, type Dispatcher } from './dispatch.js';
import { listOnNode } from './job-store.js';
import { releaseLeftover } from './leftover.js';
import { noteGone, type Reports } from './reports.js';
import { ackTimeoutStep, lostStep } from './steps.js';
import type { Transitions } from './transition.js';

/**
 * Reconciles the database with an agent that has just said hello: each attempt that the agent has gets a verdict, and each attempt that
 * the database expects there but the agent does not have is queued again or LOST.
 */
export class Reconciler {
  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly transitions: Transitions,
    private readonly dispatcher: Dispatcher,
    private readonly reports: Reports,
    private readonly wake: () => void,
  ) {}

  async reconcile({ hello, connection, rebooted }: HelloContext): Promise<WelcomePart> {
    const node = { id: hello.node_id, name: hello.name };
    const verdicts = [];
    for (const report of hello.attempts) {
      await yieldIfSliceOver();
      const { job_id, attempt } = report;
      verdicts.push({ job_id, attempt, verdict: await this.reports.judge(report, node) });
    }
    const named = new Set(hello.attempts.map(toText));
    const why = rebooted ? `${node.name} was rebooted` : `the agent on ${node.name} came back without it`;
    for (const key of await this.#expected(node)) {
      if (!named.has(toText(key))) await this.#settleMissing(key, node, connection, why);
    }
    return { verdicts };
  }

  /** Every attempt that, by the database, may have a process on the node or holds a slot there. */
  async #expected(node: AgentNode): Promise<AttemptKey[]> {
    const holdings = await this.nodes.holdings(this.ctx.db, node.id);
    const jobs = await listOnNode(this.ctx.db, node.id);
    const keys = [...holdings, ...jobs.map(({ id, attempt }) => ({ job_id: id, attempt }))];
    return [
      ...new Map(
        keys.map(({ job_id, attempt }) => [toText({ job_id, attempt }), { job_id, attempt }]),
      ).values(),
    ];
  }

  async #settleMissing(key: AttemptKey, node: AgentNode, connection: number, why: string): Promise<void> {
    let isInFlight = false;
    const change = await this.transitions.apply(key.job_id, async (row, _trx, at) => {
      isInFlight = this.dispatcher.isInFlight(key, node, connection);
      if (isInFlight || !isAttemptAt(row, key, node)) return null;
      // An agent writes an attempt to its disk before it starts it, and its hello names all that is on its disk: this one never started.
      if (row.status === 'DISPATCHING') {
        return ackTimeoutStep(
          this.nodes,
          row,
          { why: `${why}; it is dispatched again`, undelivered: true },
          at,
        );
      }
      return lostStep(this.nodes, row, { message: why, gone: true, retryAt: at }, at);
    });
    if (change || isInFlight) return;
    await noteGone(this.ctx, key, node);
    if (await releaseLeftover(this.ctx.db, this.nodes, key, node)) this.wake();
  }
}

function toText({ job_id, attempt }: AttemptKey): string {
  return `${job_id}/${attempt}`;
}
