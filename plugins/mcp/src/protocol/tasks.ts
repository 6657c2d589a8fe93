import { RELATED_TASK_META_KEY, type CallToolResult, type Task } from '@modelcontextprotocol/sdk/types.js';
import { pause } from '@svc/client';
import { isTerminal, routes, type Job } from '@svc/contract';
import { toText } from '../answer/text.js';
import { HANDLE_TTL_MS, handleOf, toTaskState } from '../tools/handle.js';
import { POLL_INTERVAL_MS, afterJob } from '../tools/job-actions.js';
import type { Call } from '../tools/tool.js';

/** Between two looks at the job by a caller that waits for its end. */
const LOOK_EVERY_MS = 1_000;

/** A task of the protocol is a job: nothing is stored here, and every adapter knows every task. */
export function toTask(job: Job): Task {
  const { id, status, created_at, queued_at, started_at, finished_at } = job;
  const message = job.failure_message ?? job.pending_reason;
  return {
    taskId: id,
    status: toTaskState(status),
    ttl: HANDLE_TTL_MS,
    pollInterval: POLL_INTERVAL_MS,
    createdAt: toIso(created_at),
    lastUpdatedAt: toIso(finished_at ?? started_at ?? queued_at),
    statusMessage: message === null ? status : `${status}: ${message}`,
  };
}

export function getTaskJob({ client, signal }: Call, job_id: string): Promise<Job> {
  return client.call(routes.getJob, { params: { job_id }, signal });
}

/** Waits for the end of the job, as long as the caller does. */
export async function untilEnded(call: Call, job_id: string): Promise<Job> {
  for (;;) {
    const job = await getTaskJob(call, job_id);
    if (isTerminal(job.status)) return job;
    await pause(LOOK_EVERY_MS, call.signal);
    call.signal.throwIfAborted();
  }
}

export async function cancelTaskJob(call: Call, job_id: string): Promise<Job> {
  await call.client.call(routes.cancelJob, { params: { job_id }, signal: call.signal });
  return getTaskJob(call, job_id);
}

/** The id of the job that a Control tool began. */
export function jobOf(result: CallToolResult): string | null {
  const id = result.structuredContent?.['job_id'];
  return typeof id === 'string' ? id : null;
}

/** What the tool would have answered with, had it waited for the end. */
export function toTaskResult(job: Job): CallToolResult {
  const { id, evaluation_id, checkpoint_id } = job;
  const answer = {
    ...handleOf(job),
    job_id: id,
    ...(evaluation_id !== null && { evaluation_id, checkpoint_id }),
    next_actions: afterJob(job),
  };
  return {
    content: [{ type: 'text', text: toText(answer) }],
    structuredContent: answer,
    _meta: { [RELATED_TASK_META_KEY]: { taskId: id } },
  };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
