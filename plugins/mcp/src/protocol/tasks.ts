import { RELATED_TASK_META_KEY, type CallToolResult, type Task } from '@modelcontextprotocol/sdk/types.js';
import { isTerminal, routes, type Job } from '@svc/contract';
import { toText } from '../answer/text.js';
import { HANDLE_TTL_MS, handleOf, toTaskState } from '../tools/handle.js';
import { POLL_INTERVAL_MS, afterJob } from '../tools/job-actions.js';
import { ToolError } from '../tools/tool-error.js';
import type { Call } from '../tools/tool.js';
import { untilEnded } from './waits.js';

/** A job that was told to end gets some time for it: by the protocol a cancelled task is not at work. */
const CANCEL_WAIT_MS = 15_000;

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

export async function cancelTaskJob(call: Call, job_id: string): Promise<Job> {
  const { status } = await getTaskJob(call, job_id);
  if (isTerminal(status)) throw new ToolError('conflict', `the task has ended already: ${status}`);
  await call.client.call(routes.cancelJob, { params: { job_id }, signal: call.signal });
  return untilEnded(call, job_id, CANCEL_WAIT_MS);
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
