import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { carryOutFaults } from './carry-out.js';
import { createDeeds } from './deeds.js';
import { findBreaches, isAtRest, type Evidence } from './invariants.js';
import { readJournal } from './journal.js';
import { createRandom } from './random.js';
import { readRecord } from './record.js';
import { describeFault, planFaults, type Fault } from './schedule.js';
import { carryOutWorkload, insist, type Submitted } from './submissions.js';
import { planWorkload } from './workload.js';
import type { World } from './world.js';

/** From the last fault's end until every job is at rest: the longest job, its retries, and the back-offs of agent and SDK. */
const REST_WITHIN_MS = 60_000;
/** Logs, points and slots may come a little after the end of a job. */
const SETTLE_WITHIN_MS = 20_000;

export interface RoundResult {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Each promise that was broken, in a sentence; none: the round is good. */
  readonly breaches: readonly string[];
  readonly tookMs: number;
  readonly counts: Readonly<Record<'jobs' | 'attempts' | 'processes' | 'lines' | 'points' | 'lost', number>>;
  /** Where journal, record and schedule are, when something broke. */
  readonly evidence: string | null;
}

/** One round: workload and faults that the seed decides, healed, waited for, and judged. */
export async function runRound(world: World, seed: number, python: string): Promise<RoundResult> {
  const beganAt = Date.now();
  const random = createRandom(seed);
  const jobs = planWorkload(random);
  const faults = planFaults(random).filter(({ kind }) => world.canFillDisks || !kind.startsWith('fill'));
  const deeds = createDeeds();
  const journal = path.join(world.workplace.dir, `journal-${seed}-${beganAt}`);
  const workplan = { jobs, python, journal, label: `${seed}-${beganAt}` };
  const [submitted] = await Promise.all([
    carryOutWorkload(world, workplan, beganAt),
    carryOutFaults(world, faults, beganAt, deeds),
  ]);
  const healed = await world.whole();
  const isDiskTold = deeds.disturbances.some(({ kind }) => kind === 'disk-full');
  const atRest = await untilAtRest(world, submitted);
  // A connection may have broken since, by what the faults left: what its agent has yet to tell is not lost.
  const { isWhole, ended } = await world.whole();
  const look = async (): Promise<Evidence> => ({
    record: await insist(world, (client) => readRecord(client, submitted)),
    witnesses: readJournal(journal),
    deeds,
  });
  const { evidence, breaches } = await untilSettled(look, atRest ? SETTLE_WITHIN_MS : 0);
  const away = isWhole ? [] : ['an agent was not connected again in time, though every fault was over'];
  const all = [...(isDiskTold ? [] : [...healed.ended, ...ended]), ...away, ...breaches];
  return {
    seed,
    faults,
    breaches: all,
    tookMs: Date.now() - beganAt,
    counts: count(evidence),
    evidence: all.length === 0 ? null : keepEvidence(world, seed, faults, evidence),
  };
}

async function untilAtRest(world: World, submitted: readonly Submitted[]): Promise<boolean> {
  const ids = new Set(submitted.map(({ id }) => id));
  const areAtRest = async (): Promise<boolean> => {
    const { items } = await world.server.client.call(routes.listJobs, { query: { limit: 100 } });
    return items.filter(({ id }) => ids.has(id)).every((job) => isAtRest({ job }) && !isToBeRetried(job));
  };
  return until(areAtRest, { timeoutMs: REST_WITHIN_MS, everyMs: 200 }).then(
    () => true,
    () => false,
  );
}

function isToBeRetried({ failure_reason, attempt, max_attempts }: Job): boolean {
  return ['LOST', 'signal'].includes(failure_reason ?? '') && attempt < max_attempts;
}

/** What is still on its way is waited for; what breaks a promise for good is there at the end. */
async function untilSettled(
  look: () => Promise<Evidence>,
  timeoutMs: number,
): Promise<{ evidence: Evidence; breaches: string[] }> {
  let found = await look().then((evidence) => ({ evidence, breaches: findBreaches(evidence) }));
  const isSound = async (): Promise<boolean> => {
    if (found.breaches.length === 0) return true;
    const evidence = await look();
    found = { evidence, breaches: findBreaches(evidence) };
    return found.breaches.length === 0;
  };
  await until(isSound, { timeoutMs, everyMs: 300 }).catch(() => undefined);
  return found;
}

function count({ record, witnesses }: Evidence): RoundResult['counts'] {
  const mains = witnesses.filter(({ role }) => role === 'main');
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const attempts = record.jobs.flatMap((job) => job.attempts);
  return {
    jobs: record.jobs.length,
    attempts: sum(record.jobs.map(({ job }) => job.attempt)),
    processes: mains.length,
    lines: sum(
      attempts.flatMap(({ log }) => [log.stdout, log.stderr]).map((text) => text.split('\n').length - 1),
    ),
    points: sum(attempts.map(({ points }) => points.length)),
    lost: record.jobs.flatMap(({ events }) => events).filter(({ type }) => type === 'JOB_LOST').length,
  };
}

function keepEvidence(world: World, seed: number, faults: readonly Fault[], evidence: Evidence): string {
  const file = path.join(world.workplace.dir, `evidence-${seed}.json`);
  writeFileSync(file, JSON.stringify({ seed, faults: faults.map(describeFault), ...evidence }, null, 2));
  return file;
}
