import type { Deeds, Kill } from './deeds.js';
import type { Witness } from './journal.js';
import type { JobRecord } from './record.js';

/** From what a process says last to its being reaped, on a busy host. */
const EXIT_MS = 500;
const NEVER_RETRIED = ['OOM', 'EXIT_CODE', 'DISPATCH_FAILED'];

/** How an attempt ended: LOST when nobody knows. */
interface Outcome {
  readonly status: string;
  readonly exit_code: number | null;
  readonly failure_reason: string | null;
}

const LOST: Outcome = { status: 'LOST', exit_code: null, failure_reason: 'LOST' };
const NOT_STARTED: Outcome = { status: 'FAILED', exit_code: null, failure_reason: 'DISPATCH_FAILED' };

/** Status, exit code and reason of every attempt are what its process, or what was done to it, says; retries follow from them. */
export function checkOutcomes(record: JobRecord, witnesses: readonly Witness[], deeds: Deeds): string[] {
  const { job, submitted } = record;
  const breaches: string[] = [];
  for (let attempt = 1; attempt <= job.attempt; attempt += 1) {
    const told = outcomeOf(record, attempt);
    const isLast = attempt === job.attempt;
    const mains = witnesses.filter((witness) => witness.role === 'main' && witness.attempt === attempt);
    if (!isLast && NEVER_RETRIED.includes(told.failure_reason ?? ''))
      breaches.push(`attempt ${attempt} was retried after ${told.failure_reason}`);
    if (isLast && told.status !== 'CANCELLED' && mayRetry(told) && attempt < job.max_attempts)
      breaches.push(
        `${told.status} ${told.failure_reason}, but was not retried after ${attempt} of ${job.max_attempts}`,
      );
    if (isLast && isCancelled(record)) continue;
    const right = rightOutcomes(record, attempt, mains, deeds);
    if (!right.some((outcome) => isSame(outcome, told)))
      breaches.push(`attempt ${attempt} is told as ${show(told)}; right is ${right.map(show).join(' or ')}`);
  }
  if (isCancelled(record)) breaches.push(...checkCancelled(record));
  if (submitted.cancel === 'conflict' && job.status === 'CANCELLED')
    breaches.push('the cancel was refused, but the job is CANCELLED');
  return breaches;
}

function isCancelled({ submitted }: JobRecord): boolean {
  return submitted.cancel === 'CANCELLED' || submitted.cancel === 'cancel-requested';
}

/** Once the server has taken a cancel, nothing else comes of the job. */
function checkCancelled({ job }: JobRecord): string[] {
  const isRight =
    job.status === 'CANCELLED' && job.failure_reason === null && [-15, null].includes(job.exit_code);
  return isRight ? [] : [`was cancelled, but is told as ${show(job)}`];
}

function mayRetry({ failure_reason }: Outcome): boolean {
  return failure_reason !== null && !NEVER_RETRIED.includes(failure_reason);
}

/** The present attempt is told by the job, an earlier one by its events. */
function outcomeOf({ job, events }: JobRecord, attempt: number): Outcome {
  if (attempt === job.attempt) return job;
  const end = events.find(({ type, data }) => type === 'RUN_FINISHED' && data['attempt'] === attempt);
  return end === undefined || end.data['status'] === 'LOST' ? LOST : (end.data as unknown as Outcome);
}

function rightOutcomes(
  record: JobRecord,
  attempt: number,
  mains: readonly Witness[],
  deeds: Deeds,
): Outcome[] {
  const { job } = record;
  const kills = deeds.kills.filter((kill) => kill.job === job.id && kill.attempt === attempt);
  const isDiskFull = deeds.disturbances.some(({ kind }) => kind === 'disk-full');
  const hasAgentGone = deeds.disturbances.some(({ kind }) => kind === 'agent-killed');
  // Killed between the acceptance and the start, or refused for want of room: no process, and the record says so.
  const unstarted = [
    ...(isDiskFull ? [NOT_STARTED] : []),
    ...(hasAgentGone ? [LOST] : []),
    ...kills.map(toOutcomeOfKill),
  ];
  const outcomes =
    mains.length === 0 ? unstarted : mains.flatMap((main) => outcomesOfProcess(record, main, kills, deeds));
  // An attempt that was given up while its node was out of reach, and its job goes on in the next one.
  const wasGivenUp = attempt < job.attempt && wasLost(record, attempt);
  return wasGivenUp ? [...outcomes, LOST] : outcomes;
}

function outcomesOfProcess(
  { submitted }: JobRecord,
  main: Witness,
  kills: readonly Kill[],
  { disturbances }: Deeds,
): Outcome[] {
  const { end } = main;
  const own = end === null ? [] : [toOutcome(submitted.plan.worker.exit)];
  // A shim that finds no room on the disk cannot write the end down before it is killed.
  const wasFull = (from: number, at: number) =>
    disturbances.some(
      (each) =>
        each.kind === 'disk-full' && each.node === main.node && each.from <= at && (each.to ?? at) >= from,
    );
  const inTime = kills.filter(
    ({ what, at }) => end === null || at <= end.at + EXIT_MS || (what === 'shim' && wasFull(end.at, at)),
  );
  return [...own, ...inTime.map(toOutcomeOfKill)];
}

function toOutcomeOfKill({ what }: Kill): Outcome {
  return what === 'shim' ? LOST : toOutcome(-9);
}

function wasLost({ events }: JobRecord, attempt: number): boolean {
  return events.some(({ type, data }) => type === 'JOB_LOST' && data['attempt'] === attempt);
}

function toOutcome(code: number): Outcome {
  if (code === 0) return { status: 'SUCCEEDED', exit_code: 0, failure_reason: null };
  return { status: 'FAILED', exit_code: code, failure_reason: code < 0 ? 'signal' : 'EXIT_CODE' };
}

function isSame(one: Outcome, other: Outcome): boolean {
  return show(one) === show(other);
}

function show({ status, exit_code, failure_reason }: Outcome): string {
  return `${status} ${exit_code} ${failure_reason}`;
}
