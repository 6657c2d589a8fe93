import { isTerminal, type Job, type NextActionRecord } from '@svc/contract';
import { toAction } from './tool.js';

/** How long a caller should wait before it asks for the job again. */
export const POLL_INTERVAL_MS = 5_000;

/** What helps after a look at the job. */
export function afterJob(job: Job): NextActionRecord[] {
  const { id: job_id, run_id, status } = job;
  if (status === 'FAILED') return [explain(job_id), tail(job_id), ...ofRun(run_id)];
  if (status === 'LOST')
    return [again(job_id), toAction('list_nodes', {}, 'whether the node of the job is back')];
  if (!isTerminal(status))
    return [again(job_id), ...(status === 'RUNNING' ? [...ofRun(run_id), tail(job_id)] : [])];
  if (job.checkpoint_id !== null) return ofEvaluation(job.checkpoint_id);
  if (status === 'CANCELLED')
    return [toAction('retry_job', { job_id }, 'it was cancelled; this queues it again')];
  return [...ofRun(run_id), ...ofCheckpoints(run_id), tail(job_id)];
}

export function again(job_id: string): NextActionRecord {
  return toAction('get_job', { job_id }, `the job goes on: look again in ${POLL_INTERVAL_MS / 1000} seconds`);
}

function explain(job_id: string): NextActionRecord {
  return toAction('explain_failure', { job_id }, 'why it failed, with evidence and what to change');
}

function tail(job_id: string): NextActionRecord {
  return toAction('tail_logs', { job_id }, 'the end of its log');
}

function ofRun(run_id: string | null): NextActionRecord[] {
  return run_id === null
    ? []
    : [toAction('diagnose_run', { run_id }, 'how its training goes, or how far it came')];
}

function ofCheckpoints(run_id: string | null): NextActionRecord[] {
  return run_id === null ? [] : [toAction('list_checkpoints', { run_id }, 'the checkpoints that it saved')];
}

function ofEvaluation(checkpoint_id: string): NextActionRecord[] {
  return [toAction('list_evaluations', { checkpoint_id }, 'the result of the evaluation')];
}
