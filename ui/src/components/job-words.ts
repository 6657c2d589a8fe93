import type { Job, JobAttempt } from '@svc/contract';
import { isolated, plural } from '../format.js';

type Failure = Pick<JobAttempt, 'failure_reason' | 'failure_message' | 'exit_code'>;

const ULID_CHARS = 26;
const REASONS: Readonly<Record<string, string>> = {
  EVALUATION_RESULT_INVALID: 'the evaluation left no valid result file',
  OOM: 'out of memory',
  EXIT_CODE: 'the command ended with an error',
  DISPATCH_FAILED: 'it could not be started on the node',
  LOST: 'the connection to its node was lost',
  signal: 'the process was killed by a signal',
};

/** `2 GPUs` or `CPU`. */
export function describeResources({ resources }: Pick<Job, 'resources'>): string {
  return resources.gpu > 0 ? plural(resources.gpu, 'GPU') : 'CPU';
}

/** `gpu-node-2 · GPU 3`. */
export function describeNode(node: string, { gpu_indices: gpus }: Pick<Job, 'gpu_indices'>): string {
  return gpus.length === 0 ? node : `${node} · GPU ${gpus.join(', ')}`;
}

/** `vision / resnet`. `nameOf`: the name of a project or experiment, by its id, as a job may have been submitted to an id. */
export function describePlace(job: Job, nameOf: (id: string) => string): string {
  const words = [job.project, job.experiment];
  const ids = [job.project_id, job.experiment_id];
  return (
    words
      .map((word, at) => (isId(word, ids[at]!) ? nameOf(ids[at]!) : word))
      .filter((word) => word !== null && word !== '')
      .map((word) => isolated(word!))
      .join(' / ') || '–'
  );
}

/** An id is taken with its prefix and without, and no name looks like one. */
function isId(word: string | null, id: string | null): boolean {
  return word !== null && id !== null && id.slice(-ULID_CHARS) === word.slice(-ULID_CHARS).toUpperCase();
}

/** Why the job waits, failed or was lost, in a sentence; null when there is nothing to explain. */
export function describeOutcome(job: Job): string | null {
  if (job.status === 'QUEUED') return job.pending_reason ?? 'waiting to be scheduled';
  if (job.status === 'FAILED' || job.status === 'LOST') return describeFailure(job);
  return null;
}

/** Why a job waits, as a sentence after `Waiting:`, before those that say what would help. */
export function describeWait(reason: string): string {
  return `${reason.replace(/^waiting for/, 'for').replace(/\.$/, '')}.`;
}

/** Why an attempt ended as it did, for a place beside its exit code; null where that says it already. */
export function explainAttempt({ failure_reason, failure_message }: JobAttempt): string | null {
  if (failure_reason === 'EXIT_CODE') return null;
  return failure_message || (failure_reason && (REASONS[failure_reason] ?? failure_reason));
}

/** Why an attempt that is over never started, in a sentence; null when it did, and while that is not known. */
export function explainNoStart(
  ended: Pick<JobAttempt, keyof Failure | 'status' | 'started_at'> | undefined,
): string | null {
  if (!ended || ended.started_at !== null) return null;
  if (ended.status === 'CANCELLED') return 'The job was cancelled before it started.';
  if (ended.status !== 'FAILED') return null;
  const reason = describeFailure(ended);
  return reason === null ? 'The job did not start.' : `The job did not start: ${reason}`;
}

/** How an attempt ended that did not succeed; null: nothing is known. The server's sentence says it all, and nothing repeats it. */
export function describeFailure({ failure_reason, failure_message, exit_code }: Failure): string | null {
  if (failure_message) return failure_message;
  const code = exit_code === null ? null : `exit code ${exit_code}`;
  return [failure_reason && REASONS[failure_reason], code].filter(Boolean).join(' · ') || null;
}

export function describeSelector({ node_selector: selector }: Job): string {
  return Object.entries(selector)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

/** A whole number from 1; null: there is none. */
export function toCount(text: string | null): number | null {
  const count = Number(text);
  return Number.isSafeInteger(count) && count > 0 ? count : null;
}

/** A job that never started stopped waiting when it ended. */
export function endOfWait(job: Job): number | null {
  return job.status === 'QUEUED' ? null : job.finished_at;
}

/** Whether an address asks for an attempt that the job never had. */
export function isNoAttempt(job: Job, asked: string | null): boolean {
  return asked !== null && asked !== '' && (toCount(asked) ?? Infinity) > job.attempt;
}
