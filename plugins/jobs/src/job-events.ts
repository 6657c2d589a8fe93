import type { EventDraft, Job } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';

/** The events of a job, with titles and messages for people. */

export function queuedEvent(job: Job, why?: string): EventDraft {
  const needs = job.resources.cpu_only
    ? 'cpu only'
    : `${job.resources.gpu} GPU${job.resources.gpu === 1 ? '' : 's'}`;
  return {
    type: 'JOB_QUEUED',
    title: `Job ${job.name} queued`,
    message: why ?? `${needs}, priority ${job.priority}`,
    job_id: job.id,
    data: { attempt: job.attempt },
  };
}

export function startedEvent(job: Job, nodeName: string): EventDraft {
  const gpus = job.gpu_indices.length === 0 ? '' : `, GPU ${job.gpu_indices.join(', ')}`;
  return {
    ...about(job),
    type: 'RUN_STARTED',
    title: `Job ${job.name} started`,
    message: `on ${nodeName}${gpus}`,
  };
}

export function finishedEvent(job: Job): EventDraft {
  const isSuccess = job.status === 'SUCCEEDED';
  return {
    ...about(job),
    type: 'RUN_FINISHED',
    severity: isSuccess ? 'info' : 'warning',
    title: `Job ${job.name} ${WORDS[job.status] ?? job.status}`,
    message: job.failure_message ?? (isSuccess ? 'exited with code 0' : ''),
    data: {
      attempt: job.attempt,
      status: job.status,
      exit_code: job.exit_code,
      failure_reason: job.failure_reason,
    },
  };
}

/**
 * A run has one RUN_FINISHED event. If the training has finished the run itself, the event of the job is left out (null) when its status is
 * the same, and refers to the job alone when its status differs.
 */
export async function omitRepeatedRunEnd(
  events: Events,
  trx: Db,
  draft: EventDraft,
): Promise<EventDraft | null> {
  const { type, run_id, data } = draft;
  const status = data?.['status'];
  if (type !== 'RUN_FINISHED' || !run_id) return draft;
  const [stored] = await events.list(trx, { type, run_id }, 1);
  if (!stored) return draft;
  return (stored.data as typeof data)?.['status'] === status ? null : { ...draft, run_id: null };
}

export function lostEvent(job: Job): EventDraft {
  return {
    ...about(job),
    type: 'JOB_LOST',
    severity: 'warning',
    title: `Job ${job.name} lost`,
    message: job.failure_message ?? '',
  };
}

export function foundEvent(job: Job, nodeName: string): EventDraft {
  return {
    ...about(job),
    type: 'JOB_FOUND',
    title: `Job ${job.name} is running after all`,
    message: `${nodeName} is back with it`,
  };
}

const WORDS: Partial<Record<Job['status'], string>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

function about(job: Job) {
  return { job_id: job.id, run_id: job.run_id, node_id: job.node_id, data: { attempt: job.attempt } };
}
