import type { EventDraft, Job, Run } from '@svc/contract';

export function startedEvent(run: Run): EventDraft {
  return {
    type: 'RUN_STARTED',
    title: `Run ${run.name} started`,
    run_id: run.id,
    job_id: run.job_id,
    data: { status: run.status, source: run.source },
  };
}

const ENDS: Readonly<Partial<Record<Run['status'], string>>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'was cancelled',
  IMPORTED: 'was imported',
};

/** The end of a run that nothing but the run is known of. */
export function finishedEvent(run: Run) {
  const isGood = run.status === 'SUCCEEDED' || run.status === 'IMPORTED';
  return {
    type: 'RUN_FINISHED',
    severity: isGood ? 'info' : 'warning',
    title: `Run ${run.name} ${ENDS[run.status] ?? 'ended'}`,
    run_id: run.id,
    job_id: run.job_id,
    data: { status: run.status, source: run.source, attempt: run.attempt },
  } satisfies EventDraft;
}

/** The training has ended the run, and its process goes on: how that will exit is not known. */
export function reportedEndEvent(run: Run, { node_id }: Pick<Job, 'node_id'>): EventDraft {
  const isFailure = run.status === 'FAILED';
  const message = 'the training reported this before its process exited; the log of its job may say why';
  return { ...finishedEvent(run), node_id, ...(isFailure && { message }) };
}

/** The run has ended with its job, for the reason of the job. */
export function endedWithJobEvent(run: Run, job: Job): EventDraft {
  const { node_id, exit_code, failure_reason, failure_message } = job;
  const ended = finishedEvent(run);
  return {
    ...ended,
    node_id,
    ...(failure_message !== null && { message: failure_message }),
    data: { ...ended.data, exit_code, failure_reason },
  };
}

/** The run has not ended: it may report again. */
export function lostEvent(run: Run, silentMs: number): EventDraft {
  return {
    type: 'RUN_LOST',
    severity: 'warning',
    title: `Run ${run.name} is LOST`,
    message: `nothing has come from it for ${Math.round(silentMs / 1000)} s; it is RUNNING again when it reports`,
    run_id: run.id,
    data: { status: run.status, source: run.source },
  };
}

export function foundEvent(run: Run): EventDraft {
  return {
    type: 'RUN_FOUND',
    title: `Run ${run.name} reports again`,
    run_id: run.id,
    data: { status: run.status, source: run.source },
  };
}

/** It does not go with the run, so it names it in `data`. */
export function deletedEvent(run: Run): EventDraft {
  return {
    type: 'RUN_DELETED',
    title: `Run ${run.name} was deleted`,
    message: 'with its points, config, events and checkpoint records; checkpoint files stay where they are',
    job_id: run.job_id,
    data: { run_id: run.id, status: run.status, source: run.source },
  };
}

export function abandonedEvent(run: Run): EventDraft {
  return { ...finishedEvent(run), message: `attempt ${run.attempt} of its job was given up` };
}
