import { isTerminal, toId, type AttemptKey, type AttemptReport, type Verdict } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import { isAttemptAt, type Dispatcher } from './dispatch.js';
import { toPlainText } from './exit-outcome.js';
import type { AttemptRow, JobRow } from './job-row.js';
import { getAttemptRow, lockRow, noteAccepted } from './job-store.js';
import { noteLateEnd } from './late-end.js';
import { releaseLeftover } from './leftover.js';
import type { Timing } from './options.js';
import { adoptStep, endedStep, lostStep, startedStep } from './steps.js';
import type { Transitions } from './transition.js';

/** Applies the agents' reports on attempts. A report may come repeatedly; it takes effect once. */
export class Reports {
  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly transitions: Transitions,
    private readonly dispatcher: Dispatcher,
    private readonly timing: Timing,
    private readonly wake: () => void,
  ) {}

  /** An `accepted` frame: the attempt is on the agent's disk, and is started if it is still wanted there. */
  async accepted(frame: AttemptKey, node: AgentNode): Promise<void> {
    const key = toCanonical(frame);
    if (key && (await this.#accept(key, node)))
      this.nodes.send(node.id, { type: 'start', job_id: frame.job_id, attempt: frame.attempt });
    else this.#answer(frame, node, 'stop');
  }

  /** An `attempt` frame. */
  async reported(report: AttemptReport, node: AgentNode): Promise<void> {
    this.#answer(report, node, await this.judge(report, node));
  }

  /** Stores what a report says and returns what the agent is to do with the attempt. */
  async judge(report: AttemptReport, node: AgentNode): Promise<Verdict> {
    const key = toCanonical(report);
    if (!key) return report.state === 'ended' ? 'forget' : 'stop';
    if (report.state === 'accepted') return (await this.#accept(key, node)) ? 'keep' : 'stop';
    this.dispatcher.acknowledged(key, node);
    if (report.state === 'running') return this.#judgeRunning(key, report, node);
    await this.#adoptIfHeld(key, node);
    if (report.started_at !== null) await this.#start(key, report, node);
    const isNews = await this.#end(key, report, node);
    if (!isNews && (await releaseLeftover(this.ctx.db, this.nodes, key, node))) this.wake();
    return 'forget';
  }

  #answer({ job_id, attempt }: AttemptKey, node: AgentNode, verdict: Verdict): void {
    if (verdict === 'stop')
      this.nodes.send(node.id, { type: 'stop', job_id, attempt, grace_ms: this.timing.killGraceMs });
    if (verdict === 'forget') this.nodes.send(node.id, { type: 'forget', job_id, attempt });
  }

  /**
   * Stores the acknowledgement. False: the attempt is not wanted on that node any more. Must hold: once the acknowledgement is stored, the
   * attempt stays with that agent until the agent reports otherwise or goes OFFLINE, so the agent may start it.
   */
  async #accept(key: AttemptKey, node: AgentNode): Promise<boolean> {
    if (await this.#acceptPending(key, node)) return true;
    await this.#adoptIfHeld(key, node);
    return this.ctx.db.transaction(async (trx) => {
      const row = await lockRow(trx, key.job_id);
      if (!isAttemptAt(row, key, node) || isTerminal(row.status) || row.cancel_requested_at !== null)
        return false;
      await trx<AttemptRow>('attempts')
        .where({ ...key, accepted_at: null })
        .update({ accepted_at: this.ctx.clock.now() });
      // A LOST job is about to start there: its retry must not run beside it, and comes only when nothing more is heard of it.
      if (row.retry_at !== null)
        await trx<JobRow>('jobs')
          .where({ id: row.id })
          .update({ retry_at: this.ctx.clock.now() + this.timing.lostRetryAfterMs });
      return true;
    });
  }

  /** The usual case reads no job: the dispatcher knows that the attempt is in flight and was not cancelled. */
  async #acceptPending(key: AttemptKey, node: AgentNode): Promise<boolean> {
    try {
      const isNoted =
        this.dispatcher.isWanted(key, node) &&
        (await noteAccepted(this.ctx.db, key, node.id, this.ctx.clock.now()));
      return isNoted && this.dispatcher.isWanted(key, node);
    } finally {
      this.dispatcher.acknowledged(key, node);
    }
  }

  /**
   * A job that was queued again for want of an acknowledgement, but that its agent has, continues there, as long as it is still queued and
   * its slots are still held on that node.
   */
  async #adoptIfHeld(key: AttemptKey, node: AgentNode): Promise<void> {
    await this.transitions.apply(key.job_id, async (row, trx) => {
      if (row.status !== 'QUEUED' || row.attempt !== key.attempt) return null;
      const sent = await getAttemptRow(trx, key);
      if (sent?.node_id !== node.id) return null;
      const holding = (await this.nodes.holdings(trx, node.id)).find(
        (held) => held.job_id === row.id && held.attempt === row.attempt,
      );
      return holding ? adoptStep(sent, holding) : null;
    });
  }

  /** Stores that the process has started, if that is new. Returns the row as it was before, with the status after that. */
  async #start(key: AttemptKey, report: AttemptReport, node: AgentNode): Promise<JobRow | null> {
    let seen = null as JobRow | null;
    const change = await this.transitions.apply(key.job_id, (row, _trx, at) => {
      seen = row;
      const isNew =
        row.status === 'DISPATCHING' ||
        (row.status === 'LOST' && (report.state === 'running' || row.started_at === null));
      return isAttemptAt(row, key, node) && isNew ? startedStep(row, report, node, at) : null;
    });
    return seen && { ...seen, ...(change && { status: change.after.status }) };
  }

  async #judgeRunning(key: AttemptKey, report: AttemptReport, node: AgentNode): Promise<Verdict> {
    let row = await this.#start(key, report, node);
    if (row?.status === 'QUEUED') {
      await this.#adoptIfHeld(key, node);
      row = await this.#start(key, report, node);
    }
    const isWanted =
      isAttemptAt(row, key, node) && row.status === 'RUNNING' && row.cancel_requested_at === null;
    return isWanted ? 'keep' : 'stop';
  }

  async #end(key: AttemptKey, report: AttemptReport, node: AgentNode): Promise<boolean> {
    const exit = report.exit ?? { kind: 'lost', reason: 'its agent did not say how it ended' };
    const change = await this.transitions.apply(key.job_id, (row, _trx, at) => {
      if (!isAttemptAt(row, key, node)) return null;
      if (exit.kind !== 'lost') return endedStep(this.nodes, row, exit, report, node, at);
      return lostStep(
        this.nodes,
        row,
        { message: toPlainText(`${exit.reason} (${node.name})`), gone: true, retryAt: at },
        at,
      );
    });
    if (change !== null) return true;
    if (exit.kind === 'lost') await noteGone(this.ctx, key, node);
    else await noteLateEnd(this.ctx, key, report, exit, node);
    return false;
  }
}

/** The process of a LOST job is now known to be gone: the automatic retry is due at once. */
export async function noteGone(
  { db, clock }: PluginContext,
  key: AttemptKey,
  node: { readonly id: string },
): Promise<void> {
  await db<JobRow>('jobs')
    .where({ id: key.job_id, attempt: key.attempt, node_id: node.id, status: 'LOST' })
    .whereNotNull('retry_at')
    .update({ retry_at: clock.now() });
}

/** The largest value of the integer column. */
const MAX_ATTEMPT = 2 ** 31 - 1;

/** null when no job can have such an attempt. */
function toCanonical({ job_id, attempt }: AttemptKey): AttemptKey | null {
  const id = toId('job', job_id);
  return id === null || attempt > MAX_ATTEMPT ? null : { job_id: id, attempt };
}
