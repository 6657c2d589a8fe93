import type { EventRecord, Job, JobAttempt, JobStatus } from '@svc/contract';

/** A state that an attempt was in, and since when; what is not known is null. */
export interface TimelineStep {
  readonly status: JobStatus;
  /** In the words of the page: `Assigned`, `Running`. */
  readonly title: string;
  readonly from: number | null;
  /** When the next state began; null while it lasts, and for the last one. */
  readonly to: number | null;
  /** It goes on now. */
  readonly isNow: boolean;
}

/** What is known of an attempt; `dispatched_at` of the present one alone. */
export interface TimelineAttempt extends Pick<JobAttempt, 'status' | 'started_at' | 'finished_at'> {
  readonly queued_at: number | null;
  readonly dispatched_at: number | null;
}

const ENDS: Partial<Record<JobStatus, string>> = {
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
  LOST: 'Lost',
};

/** The states of one attempt in their order. */
export function toTimeline(attempt: TimelineAttempt): TimelineStep[] {
  const { status, queued_at, dispatched_at, started_at, finished_at } = attempt;
  const begins: (Omit<TimelineStep, 'to' | 'isNow'> | null)[] = [
    { status: 'QUEUED', title: 'Queued', from: queued_at },
    dispatched_at === null ? null : { status: 'DISPATCHING', title: 'Assigned', from: dispatched_at },
    started_at === null ? null : { status: 'RUNNING', title: 'Running', from: started_at },
    ENDS[status] === undefined ? null : { status, title: ENDS[status], from: finished_at },
  ];
  const steps = begins.filter((step) => step !== null);
  return steps.map((step, at) => {
    const isLast = at === steps.length - 1;
    return {
      ...step,
      to: isLast ? null : (steps[at + 1]!.from ?? finished_at),
      isNow: isLast && step.status === status && ENDS[status] === undefined,
    };
  });
}

/** What is known of an attempt of the job. `queued`: the events that tell of each queueing. */
export function toTimelineAttempt(
  job: Job,
  number: number,
  attempts: readonly JobAttempt[],
  queued: readonly EventRecord[],
): TimelineAttempt | null {
  if (number === job.attempt) return job;
  const record = attempts.find(({ attempt }) => attempt === number);
  if (!record) return null;
  return { ...record, queued_at: findQueued(number, queued)?.created_at ?? null, dispatched_at: null };
}

/** The event that tells that the attempt was queued, and in its message why. */
export function findQueued(number: number, queued: readonly EventRecord[]): EventRecord | undefined {
  return queued.find(({ data }) => (data as { attempt?: unknown }).attempt === number);
}
