import { JUST_QUEUED, type AttemptReport } from '@svc/contract';
import type { AgentNode, Holding, Nodes } from '@svc/plugin-nodes';
import { toCancelled, toDispatchFailed, toOutcome, type KnownExit } from './exit-outcome.js';
import { finishedEvent, foundEvent, lostEvent, queuedEvent, startedEvent } from './job-events.js';
import type { AttemptRow, JobRow } from './job-row.js';
import { mayRetry } from './retry-policy.js';
import type { Step } from './transition.js';

/** Where a scheduling pass wants a job to run. */
export interface Placement {
  readonly job_id: string;
  readonly attempt: number;
  readonly node: AgentNode;
  /** Empty: a cpu-only job. */
  readonly gpu_indices: readonly number[];
  /** Another engine schedules the job: it takes neither GPU slots nor a cpu-only place. */
  readonly isExternal?: boolean;
}

const NOT_PLACED = { node_id: null, gpu_indices: '[]', dispatched_at: null, run_id: null } as const;

export function claimStep(nodes: Nodes, placement: Placement, at: number): Step {
  const { job_id, attempt, node, gpu_indices, isExternal = false } = placement;
  return {
    trigger: 'claim',
    set: { ...heldBy(node.id, gpu_indices), dispatched_at: at },
    attempt: { accepted_at: null },
    slots: (trx) => nodes.claim(trx, { node_id: node.id, gpu_indices, job_id, attempt, isExternal }),
  };
}

/** For a job that was queued again for want of an acknowledgement, and that its agent has all the same. */
export function adoptStep(sent: AttemptRow, holding: Holding): Step {
  return {
    trigger: 'claim',
    set: { ...heldBy(sent.node_id, holding.gpu_indices), dispatched_at: sent.dispatched_at },
  };
}

export function startedStep(job: JobRow, report: AttemptReport, node: AgentNode, at: number): Step {
  const isFound = job.status === 'LOST';
  const startedAt = job.started_at ?? within(report.started_at ?? at, job.dispatched_at ?? 0, at);
  const cleared = { failure_reason: null, failure_message: null, retry_at: null };
  return {
    trigger: isFound ? 'found' : 'started',
    set: { started_at: startedAt, ...(isFound && cleared) },
    event: (after) => (isFound ? foundEvent(after, node.name) : startedEvent(after, node.name)),
  };
}

export function endedStep(
  nodes: Nodes,
  job: JobRow,
  exit: KnownExit,
  report: AttemptReport,
  node: AgentNode,
  at: number,
): Step {
  const { trigger, ...outcome } =
    job.cancel_requested_at === null ? toOutcome(exit, node.name) : toCancelled(exit);
  const isLate = trigger === 'dispatch_failed' && job.status !== 'DISPATCHING';
  return {
    trigger: isLate ? 'exited_bad' : trigger,
    set: {
      ...outcome,
      finished_at: within(report.finished_at ?? at, job.started_at ?? job.dispatched_at ?? 0, at),
      retry_at: trigger !== 'cancelled' && mayRetry(job, outcome.failure_reason) ? at : null,
    },
    slots: releaseSlots(nodes, job),
    event: finishedEvent,
  };
}

/** The agent no longer has the attempt, or the node is OFFLINE. `gone`: no process is left, so the slots are released. */
export function lostStep(nodes: Nodes, job: JobRow, { message, gone, retryAt }: Loss, at: number): Step {
  const slots = gone ? { slots: releaseSlots(nodes, job) } : {};
  if (job.cancel_requested_at !== null) {
    const { trigger, ...outcome } = toCancelled(null);
    const set = { ...outcome, failure_message: `cancelled; ${message}`, finished_at: at };
    return { trigger, set, event: finishedEvent, ...slots };
  }
  return {
    trigger: 'lost',
    set: {
      failure_reason: 'LOST',
      failure_message: message,
      retry_at: mayRetry(job, 'LOST') ? retryAt : null,
    },
    event: lostEvent,
    ...slots,
  };
}

export interface Loss {
  readonly message: string;
  readonly gone: boolean;
  /** When an automatic retry is due, if one is allowed; ms. */
  readonly retryAt: number;
}

/** `undelivered`: the agent cannot have the attempt. Otherwise the slots stay held until the agent says what it has. */
/** Why a dispatch is taken back. */
export interface Requeue {
  readonly why: string;
  /** The agent cannot have it: its slots are free. */
  readonly undelivered: boolean;
  /** The job is not dispatched again before that time, in ms; null: at once. */
  readonly notBefore?: number | null;
}

export function ackTimeoutStep(
  nodes: Nodes,
  job: JobRow,
  { why, undelivered, notBefore = null }: Requeue,
  at: number,
): Step {
  const slots = undelivered ? { slots: releaseSlots(nodes, job) } : {};
  if (job.cancel_requested_at !== null) {
    const { trigger, ...outcome } = toCancelled(null);
    return { trigger, set: { ...outcome, finished_at: at }, event: finishedEvent, ...slots };
  }
  const { node_id, gpu_indices, dispatched_at } = job;
  return {
    trigger: 'ack_timeout',
    set: { ...NOT_PLACED, pending_reason: why, not_before: notBefore },
    attempt: { node_id, gpu_indices, dispatched_at },
    ...slots,
  };
}

export function planFailedStep(nodes: Nodes, job: JobRow, message: string, at: number): Step {
  const { trigger, ...outcome } =
    job.cancel_requested_at === null ? toDispatchFailed(message) : toCancelled(null);
  return {
    trigger,
    set: { ...outcome, finished_at: at },
    slots: releaseSlots(nodes, job),
    event: finishedEvent,
  };
}

/** For a job without a process that could be stopped: QUEUED or LOST. */
export function cancelStep(job: JobRow, at: number): Step {
  const message =
    job.status === 'LOST' ? `cancelled while lost: ${job.failure_message}` : 'cancelled while queued';
  return {
    trigger: 'cancelled',
    set: {
      failure_reason: null,
      failure_message: message,
      finished_at: at,
      not_before: null,
      retry_at: null,
      head_since: null,
    },
    event: finishedEvent,
  };
}

export function retryStep(
  job: JobRow,
  { why, notBefore }: { why: string; notBefore: number | null },
  at: number,
): Step {
  return {
    trigger: 'retry',
    set: {
      ...NOT_PLACED,
      attempt: job.attempt + 1,
      queued_at: at,
      pending_reason: JUST_QUEUED,
      exit_code: null,
      failure_reason: null,
      failure_message: null,
      started_at: null,
      finished_at: null,
      cancel_requested_at: null,
      not_before: notBefore,
      retry_at: null,
      head_since: null,
    },
    event: (after) => queuedEvent(after, why),
  };
}

function heldBy(nodeId: string | null, gpuIndices: readonly number[]) {
  return { node_id: nodeId, gpu_indices: JSON.stringify(gpuIndices), not_before: null, head_since: null };
}

function releaseSlots(nodes: Nodes, { node_id, id, attempt }: JobRow): NonNullable<Step['slots']> {
  return async (trx) => {
    if (node_id !== null) await nodes.release(trx, node_id, { job_id: id, attempt });
    return true;
  };
}

/** The clocks of hosts differ: a time that an agent reports is clamped to the times that this server knows. */
export function within(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
