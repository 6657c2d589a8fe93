import { routes } from '@svc/contract';
import { Type } from 'typebox';
import { ToolError } from './tool-error.js';
import { Handle, handleOf, toHandle } from './handle.js';
import { afterJob, again } from './job-actions.js';
import { defineTool, toAction } from './tool.js';

export const submitJob = defineTool(
  {
    name: 'submit_job',
    title: 'Submit a job',
    description:
      'Queues a training job and answers at once with a handle; follow it with get_job. Left out, `gpus` is 1; `cpu_only` takes none. The same `idempotency_key` with the same arguments submits once.',
    group: 'control',
    output: { ...Handle, job_id: Type.String() },
  },
  async ({ client, signal }, args) => {
    const { gpus, cpu_only, idempotency_key, ...body } = args;
    const resources = {
      ...(gpus !== undefined && { gpu: gpus }),
      ...(cpu_only !== undefined && { cpu_only }),
    };
    const job = await client.call(routes.submitJob, {
      body: {
        ...body,
        ...(Object.keys(resources).length > 0 && { resources }),
      },
      headers: toHeaders(idempotency_key),
      signal,
    });
    return { body: { ...handleOf(job), job_id: job.id }, next_actions: afterJob(job) };
  },
);

export const evaluateCheckpoint = defineTool(
  {
    name: 'evaluate_checkpoint',
    title: 'Evaluate a checkpoint',
    description:
      'Queues a job that evaluates a checkpoint, and answers with a handle. The command finds the checkpoint in SVC_EVAL_CHECKPOINT and writes {"metrics": {...}, "runtime_s": ...} to the file in SVC_EVAL_OUTPUT. suite, dataset and dataset_version are labels alone.',
    group: 'control',
    output: {
      ...Handle,
      job_id: Type.String(),
      evaluation_id: Type.String(),
      checkpoint_id: Type.String(),
    },
  },
  async ({ client, signal }, { checkpoint_id: ckpt_id, idempotency_key, ...body }) => {
    const evaluation = await client.call(routes.createEvaluation, {
      params: { ckpt_id },
      body,
      headers: toHeaders(idempotency_key),
      signal,
    });
    const { id: evaluation_id, job_id, checkpoint_id, status } = evaluation;
    const states = {
      QUEUED: 'working',
      SUCCEEDED: 'completed',
      FAILED: 'failed',
      CANCELLED: 'cancelled',
    } as const;
    return {
      body: { ...toHandle(job_id, states[status], status), job_id, evaluation_id, checkpoint_id },
      next_actions: [
        again(job_id),
        toAction('list_evaluations', { checkpoint_id }, 'the result, once the job has ended'),
      ],
    };
  },
);

export const cancelJob = defineTool(
  {
    name: 'cancel_job',
    title: 'Cancel a job',
    description:
      'Ends a job: SIGTERM to its processes, SIGKILL after a grace. Needs confirm=true; anything else is refused and changes nothing.',
    group: 'control',
    output: { ...Handle, job_id: Type.String() },
    isDestructive: true,
    isIdempotent: true,
  },
  async ({ client, signal }, { job_id, confirm }) => {
    if (!confirm)
      throw new ToolError('validation_error', 'cancel_job needs confirm=true; nothing was cancelled', [
        toAction('cancel_job', { job_id, confirm: true }, 'only if the job is really to end'),
      ]);
    const answer = await client.call(routes.cancelJob, { params: { job_id }, signal });
    const isCancelled = answer.result === 'CANCELLED';
    return {
      body: {
        ...toHandle(answer.job_id, isCancelled ? 'cancelled' : 'working', answer.result),
        job_id: answer.job_id,
      },
      next_actions: [
        isCancelled
          ? toAction('get_job', { job_id: answer.job_id }, 'the job as it is now')
          : again(answer.job_id),
      ],
    };
  },
);

export const retryJob = defineTool(
  {
    name: 'retry_job',
    title: 'Retry a job',
    description:
      'Queues a job that has ended or is LOST again, unchanged, as its next attempt. After an error in the command or out of memory it fails the same way: change it and use submit_job.',
    group: 'control',
    output: { ...Handle, job_id: Type.String(), attempt: Type.Integer() },
  },
  async ({ client, signal }, { job_id }) => {
    const job = await client.call(routes.retryJob, { params: { job_id }, signal });
    return { body: { ...handleOf(job), job_id: job.id, attempt: job.attempt }, next_actions: afterJob(job) };
  },
);

function toHeaders(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'idempotency-key': key };
}
