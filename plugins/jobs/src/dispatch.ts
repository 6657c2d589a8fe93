import type { AttemptKey, Job } from '@svc/contract';
import type { PluginContext, Timer } from '@svc/kernel';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import { attemptPrepare, type AttemptPlan } from './hooks.js';
import type { JobRow } from './job-row.js';
import { lockAttemptRow } from './job-store.js';
import type { Timing } from './options.js';
import { FAILED_HERE } from './pending-reason.js';
import { ackTimeoutStep, claimStep, planFailedStep, type Placement, type Requeue } from './steps.js';
import type { Transitions } from './transition.js';

type NodeRef = Pick<AgentNode, 'id'>;

/** A dispatch that its agent has not acknowledged yet. */
interface Pending {
  readonly jobId: string;
  /** False: the job was cancelled, or is no longer dispatched to that node. */
  isWanted: boolean;
  /** The connection that it was sent on; null while it is being prepared. */
  connection: number | null;
  timer: Timer | null;
}

/** Claims slots for a job, sends it to its agent, and queues it again when the agent does not acknowledge. */
export class Dispatcher {
  readonly #pending = new Map<string, Pending>();
  readonly #inFlight = new Set<Promise<void>>();

  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly transitions: Transitions,
    private readonly timing: Timing,
  ) {}

  /** Claims the slots and sends the job in the background. False when the job has changed or the slots are no longer free. */
  async place(placement: Placement): Promise<boolean> {
    const key = toKey(placement, placement.node);
    this.#forget(placement, placement.node);
    const pending: Pending = { jobId: placement.job_id, isWanted: true, connection: null, timer: null };
    this.#pending.set(key, pending);
    const change = await this.transitions
      .apply(placement.job_id, (job, _trx, at) =>
        job.attempt === placement.attempt ? claimStep(this.nodes, placement, at) : null,
      )
      .catch((error: unknown) => {
        this.#pending.delete(key);
        throw error;
      });
    if (!change) this.#pending.delete(key);
    else this.#track(this.#deliver(change.after, placement.node, pending));
    return change !== null;
  }

  /** The agent has it on disk. */
  acknowledged(key: AttemptKey, node: NodeRef): void {
    this.#forget(key, node);
  }

  /** A cancel was requested. False: the attempt has not been sent yet, so there is nothing for the agent to stop. */
  cancel(key: AttemptKey, node: NodeRef): boolean {
    const pending = this.#pending.get(toKey(key, node));
    if (!pending) return true;
    pending.isWanted = false;
    return pending.connection !== null;
  }

  /** Dispatches of other attempts of the job, and those to another node, are not wanted any more. */
  noteChange({ id, attempt, node_id, status }: Job): void {
    const wanted = status === 'DISPATCHING' ? toKey({ job_id: id, attempt }, { id: node_id ?? '' }) : null;
    for (const [key, pending] of this.#pending)
      if (pending.jobId === id && key !== wanted) pending.isWanted = false;
  }

  /** The dispatch is in flight and was not cancelled. */
  isWanted(key: AttemptKey, node: NodeRef): boolean {
    return this.#pending.get(toKey(key, node))?.isWanted ?? false;
  }

  /** The dispatch was not acknowledged, and the hello of this connection was written before it was sent. */
  isInFlight(key: AttemptKey, node: NodeRef, connection: number): boolean {
    const pending = this.#pending.get(toKey(key, node));
    return pending !== undefined && (pending.connection === null || pending.connection === connection);
  }

  isPending(key: AttemptKey, node: NodeRef): boolean {
    return this.#pending.has(toKey(key, node));
  }

  async close(): Promise<void> {
    for (const { timer } of this.#pending.values()) timer?.clear();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  async #deliver(job: Job, node: AgentNode, pending: Pending): Promise<void> {
    const key = { job_id: job.id, attempt: job.attempt };
    try {
      const plan = await this.#plan(job, node);
      if (!plan) return;
      // A cancel that came meanwhile had nothing to stop: it takes effect here.
      if (pending.isWanted && this.#send(plan, node, pending)) return;
      await this.#takeBack(key, node, {
        why: `${node.name} was disconnected before the job could be sent there`,
        undelivered: true,
      });
    } catch (err) {
      this.ctx.log.error(
        { err, job_id: job.id },
        'a dispatch could not be prepared; the job is queued again',
      );
      await this.#takeBack(key, node, {
        why: FAILED_HERE,
        undelivered: true,
        // What fails for this job would fail again at once, and again.
        notBefore: this.ctx.clock.now() + this.timing.backoff.firstMs,
      });
    }
  }

  /** null when the runner cannot plan the attempt: then the job has failed. */
  async #plan(job: Job, node: AgentNode): Promise<AttemptPlan | null> {
    const key = { job_id: job.id, attempt: job.attempt };
    const runner = this.ctx.registered.runners.get(job.runner);
    let runnerPlan: unknown;
    try {
      if (!runner) throw new Error('no plugin of this server provides it any more');
      runnerPlan = await runner.plan(job.runner_options, job);
    } catch (error) {
      const message = `could not be started on ${node.name}: runner "${job.runner}": ${(error as Error).message}`;
      await this.transitions.apply(job.id, (row, _trx, at) =>
        isAttemptAt(row, key, node) ? planFailedStep(this.nodes, row, message, at) : null,
      );
      this.#forget(key, node);
      return null;
    }
    const env = { ...job.env, SVC_JOB_ID: job.id, SVC_ATTEMPT: String(job.attempt) };
    return this.ctx.fire(attemptPrepare, {
      job,
      attempt: job.attempt,
      run_id: null,
      env,
      runner_plan: runnerPlan,
    });
  }

  /** False: the node is not connected any more. */
  #send(plan: AttemptPlan, node: AgentNode, pending: Pending): boolean {
    const { job, attempt, run_id, env, runner_plan } = plan;
    const key = { job_id: job.id, attempt };
    const connection = this.nodes.connectionOf(node.id);
    const isSent = this.nodes.send(node.id, {
      type: 'dispatch',
      ...key,
      job_type: job.type,
      run_id,
      name: job.name,
      runner: job.runner,
      plan: runner_plan,
      env: { ...env },
      working_dir: job.working_dir,
      snapshot: job.snapshot,
      gpu_indices: job.gpu_indices,
      kill_grace_ms: this.timing.killGraceMs,
    });
    if (!isSent) return false;
    pending.connection = connection;
    pending.timer = this.ctx.clock.setTimeout(
      () => this.#track(this.#timedOut(key, node)),
      this.timing.ackTimeoutMs,
    );
    return true;
  }

  async #timedOut(key: AttemptKey, node: AgentNode): Promise<void> {
    const why = `${node.name} did not acknowledge the job within ${this.timing.ackTimeoutMs / 1000} s`;
    try {
      if (!(await this.#takeBack(key, node, { why, undelivered: false }))) return;
      this.nodes.reconnect(node.id, `job ${key.job_id} was not acknowledged in time`);
    } catch (err) {
      this.ctx.log.error(
        { err, job_id: key.job_id },
        'an unacknowledged dispatch could not be taken back; the next pass checks the job',
      );
    }
  }

  async #takeBack(key: AttemptKey, node: AgentNode, how: Requeue): Promise<boolean> {
    try {
      const change = await this.transitions.apply(key.job_id, async (row, trx, at) => {
        if (!isAttemptAt(row, key, node) || row.status !== 'DISPATCHING') return null;
        const sent = await lockAttemptRow(trx, key);
        return sent?.accepted_at === null ? ackTimeoutStep(this.nodes, row, how, at) : null;
      });
      return change !== null;
    } finally {
      this.#forget(key, node);
    }
  }

  #forget(attempt: AttemptKey, node: NodeRef): void {
    const key = toKey(attempt, node);
    this.#pending.get(key)?.timer?.clear();
    this.#pending.delete(key);
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((err: unknown) => this.ctx.log.error({ err }, 'a dispatch failed; the next pass checks the job'))
      .finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }
}

/** Whether this is the job's present attempt, and it was dispatched to that node. */
export function isAttemptAt(row: JobRow | null, key: AttemptKey, node: NodeRef): row is JobRow {
  return row !== null && row.attempt === key.attempt && row.node_id === node.id;
}

function toKey({ job_id, attempt }: AttemptKey, node: NodeRef): string {
  return `${node.id}/${job_id}/${attempt}`;
}
