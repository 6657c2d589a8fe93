import { isTerminal } from '@svc/contract';
import { TIMES } from './world.js';
import { checkOutcomes } from './check-outcomes.js';
import { checkOutput } from './check-output.js';
import type { Deeds } from './deeds.js';
import type { Witness } from './journal.js';
import type { JobRecord, WorldRecord } from './record.js';

export interface Evidence {
  readonly record: WorldRecord;
  readonly witnesses: readonly Witness[];
  readonly deeds: Deeds;
}

/** After contact is there again: hello and verdicts, the grace of a stop, and how slow a busy host is. In ms. */
const RECONCILE_MS = TIMES.killGrace * 1000 + 4000;
/** Between a process' last sign of life and what is written about its end by another clock reading. In ms. */
const SKEW_MS = 20;

/** Every promise that the evidence breaks, in a sentence each. */
export function findBreaches(evidence: Evidence): string[] {
  const { record, witnesses } = evidence;
  const ofJob = (id: string) => witnesses.filter(({ job }) => job === id);
  return [
    ...record.doubles.map((job) => `submitted once, there twice: ${job}`),
    ...record.survivors.map(({ pid, job }) => `process ${pid} of ${job} outlives it`),
    ...record.nodes.flatMap(checkNodeIsFree),
    ...checkSlots(witnesses),
    ...record.jobs.flatMap((job) =>
      [
        ...checkAtRest(job),
        ...checkAttempts(job),
        ...checkEvents(job),
        ...checkRuns(job),
        ...checkStarts(job, ofJob(job.job.id), evidence.deeds),
        ...checkEndsStand(job, ofJob(job.job.id)),
        ...checkOutcomes(job, ofJob(job.job.id), evidence.deeds),
        ...checkOutput(job, ofJob(job.job.id)),
      ].map((breach) => `${job.submitted.plan.name} ${job.job.id}: ${breach}`),
    ),
  ];
}

function checkNodeIsFree({ name, slots, cpu_jobs, busy }: WorldRecord['nodes'][number]): string[] {
  const held = slots.filter((slot) => slot.busy).map(({ index, job_id }) => `slot ${index} by ${job_id}`);
  const breaches = held.map((slot) => `${name} is at rest, but holds ${slot}`);
  if (cpu_jobs > 0 || (busy && held.length === 0))
    breaches.push(`${name} is at rest, but counts ${cpu_jobs} cpu jobs`);
  return breaches;
}

/** No two attempts have had one slot at one time, by the word of their processes. */
function checkSlots(witnesses: readonly Witness[]): string[] {
  return pairs(witnesses.filter(({ gpus }) => gpus.length > 0))
    .filter(([one, other]) => one.node === other.node && one.gpus.some((gpu) => other.gpus.includes(gpu)))
    .filter(([one, other]) => !isSameAttempt(one, other) && overlapMs(one, other) > 0)
    .map(([one, other]) => `a slot was held twice: ${tell(one)} and ${tell(other)}`);
}

export function isAtRest({ job }: Pick<JobRecord, 'job'>): boolean {
  return isTerminal(job.status) || job.status === 'LOST';
}

function checkAtRest({ job }: JobRecord): string[] {
  return isAtRest({ job }) ? [] : [`is ${job.status} (${job.pending_reason})`];
}

/** They rise by exactly 1 from 1, and never past max_attempts. */
function checkAttempts({ job, events }: JobRecord): string[] {
  const queued = events.filter(({ type }) => type === 'JOB_QUEUED').map(({ data }) => data['attempt']);
  const expected = Array.from({ length: job.attempt }, (_, index) => index + 1);
  const breaches = [];
  if (queued.join() !== expected.join())
    breaches.push(`was queued as attempts ${queued.join()}, is at ${job.attempt}`);
  if (job.attempt > job.max_attempts) breaches.push(`attempt ${job.attempt} of ${job.max_attempts}`);
  return breaches;
}

/** One start and one end for each attempt that has ended; for the last, nothing after its end. An earlier one may be told as over later. */
function checkEvents({ job, events }: JobRecord): string[] {
  const breaches: string[] = [];
  for (let attempt = 1; attempt <= job.attempt; attempt += 1) {
    const types = events.filter(({ data }) => data['attempt'] === attempt).map(({ type }) => type);
    const count = (wanted: string) => types.filter((type) => type === wanted).length;
    if (count('RUN_STARTED') > 1) breaches.push(`attempt ${attempt} has ${count('RUN_STARTED')} RUN_STARTED`);
    const isOver = attempt < job.attempt || isTerminal(job.status);
    const ends = count('RUN_FINISHED');
    if (ends > 1 || (isOver && ends === 0 && count('JOB_LOST') === 0))
      breaches.push(`attempt ${attempt} has ${ends} RUN_FINISHED: ${types.join()}`);
  }
  const last = events.filter(({ data }) => data['attempt'] === job.attempt).at(-1);
  if (isTerminal(job.status) && last?.type !== 'RUN_FINISHED')
    breaches.push(`is ${job.status}, but its last event is ${last?.type}`);
  const said = last?.data['status'];
  if (isTerminal(job.status) && said !== job.status)
    breaches.push(`is ${job.status}, its last event says ${String(said)}`);
  return breaches;
}

function checkRuns({ attempts }: JobRecord): string[] {
  return attempts
    .filter(({ run }) => run?.status === 'RUNNING')
    .map(({ attempt }) => `the run of attempt ${attempt} is still RUNNING`);
}

/** Every process is in the record, no attempt has had two, and attempts overlap only while a node was out of reach. */
function checkStarts(record: JobRecord, witnesses: readonly Witness[], deeds: Deeds): string[] {
  const mains = witnesses.filter(({ role }) => role === 'main');
  const breaches: string[] = [];
  for (const main of mains) {
    const reachAt = reachableAgainAt(main, deeds);
    const isBrief = main.seenAt <= reachAt + RECONCILE_MS;
    const isOnRecord = nodesOfAttempt(record, main.attempt).has(main.node);
    if (!isOnRecord && !isBrief) breaches.push(`${tell(main)} is not in the record`);
  }
  for (const [one, other] of pairs(mains)) {
    if (isSameAttempt(one, other) && one.node === other.node)
      breaches.push(`one attempt was started twice: ${tell(one)} and ${tell(other)}`);
    else if (
      overlapMs(one, other) > 0 &&
      Math.min(one.seenAt, other.seenAt) > latestReach([one, other], deeds)
    )
      breaches.push(`ran twice at once: ${tell(one)} and ${tell(other)}`);
  }
  return breaches;
}

function latestReach(mains: readonly Witness[], deeds: Deeds): number {
  return Math.max(...mains.map((main) => reachableAgainAt(main, deeds))) + RECONCILE_MS;
}

/** When the last trouble that could hide the process from the server was over; -Infinity: there was none. */
function reachableAgainAt({ node, startedAt, seenAt }: Witness, { disturbances }: Deeds): number {
  const hiding = disturbances.filter(
    (each) =>
      (each.node === null || each.node === node) &&
      each.from <= seenAt &&
      (each.to ?? Infinity) >= startedAt - RECONCILE_MS,
  );
  return Math.max(-Infinity, ...hiding.map(({ to }) => to ?? Infinity));
}

function nodesOfAttempt({ job, events }: JobRecord, attempt: number): Set<string | null> {
  const nodes = events
    .filter(({ type, data }) => data['attempt'] === attempt && type !== 'JOB_QUEUED')
    .map(({ node_id }) => node_id);
  return new Set(job.attempt === attempt ? [...nodes, job.node_id] : nodes);
}

/** Once the end of an attempt is told with its exit code, nothing of it lives any more: the grandchildren too are gone. */
function checkEndsStand({ job, events }: JobRecord, witnesses: readonly Witness[]): string[] {
  return events
    .filter(({ type, data }) => type === 'RUN_FINISHED' && typeof data['exit_code'] === 'number')
    .flatMap(({ data, node_id, created_at }) =>
      witnesses
        .filter(({ attempt, node }) => attempt === data['attempt'] && node === node_id)
        .filter(({ seenAt }) => seenAt > created_at + SKEW_MS)
        .map(
          (witness) =>
            `${tell(witness)} lived on after the end of attempt ${String(data['attempt'])} of ${job.id} was told`,
        ),
    );
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((one, index) => items.slice(index + 1).map((other): [T, T] => [one, other]));
}

function isSameAttempt(one: Witness, other: Witness): boolean {
  return one.job === other.job && one.attempt === other.attempt;
}

function overlapMs(one: Witness, other: Witness): number {
  return Math.min(one.seenAt, other.seenAt) - Math.max(one.startedAt, other.startedAt);
}

export function tell({ role, pid, attempt, node, gpus, startedAt, seenAt }: Witness): string {
  const where = `${node.slice(-6)}${gpus.length > 0 ? ` GPU ${gpus.join()}` : ''}`;
  return `${role} ${pid} of attempt ${attempt} on ${where} (${Math.round(startedAt)} to ${Math.round(seenAt)})`;
}
