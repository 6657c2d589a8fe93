import type { AttemptKey, DetectorInput, Job, LogLine, Run } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { Metrics } from '@svc/plugin-metrics';
import type { NodeMetrics } from '@svc/plugin-node-metrics';
import { toWatched } from '../engine/attempts.js';
import type { DetectorsBySubject } from '../engine/settings.js';
import type { SubjectKey } from '../engine/subjects.js';
import { readPoints, readSamples, type TimedPoint } from './history.js';
import type { Dated } from './merge.js';

export interface SceneSource {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly metrics: Metrics;
  readonly nodeMetrics: NodeMetrics;
}

/** What happened to a run, and to whom. */
export interface Scene {
  readonly keys: readonly SubjectKey[];
  readonly input: DetectorInput;
}

/** What is stored of a run but for its log. */
export interface Scenes {
  readonly tracks: readonly Iterable<Dated<Scene>>[];
  /** Whose log is of the run; null: no attempt's. */
  readonly attempt: AttemptKey | null;
  readonly points: number;
  readonly samples: number;
  readonly isComplete: boolean;
}

/** Points that came at one time are seen together, so many at most. */
const MAX_TOGETHER = 1_000;

export async function gatherScenes(
  source: SceneSource,
  detectors: DetectorsBySubject,
  run: Run,
  now: number,
  isOver: () => boolean,
): Promise<Scenes> {
  const names = await namesOf(source, detectors, run);
  const { points, isComplete } = await readPoints(source.metrics, run.id, names, isOver);
  const ofPoints = pointScenes(run.id, points);
  const counts = { points: points.length, samples: 0, isComplete };
  const job = run.job_id === null ? null : await source.jobs.get(source.db, run.job_id);
  const key = { job_id: run.job_id ?? '', attempt: run.attempt ?? 1 };
  const place = job && (await source.jobs.attempt(source.db, key));
  if (!job || !place) return { ...counts, tracks: [ofPoints], attempt: null };
  const [from, to] = [place.started_at ?? run.created_at, place.finished_at ?? now];
  const ofJob = jobScenes(job, key, from, place.finished_at);
  const { node_id } = place;
  const samples = node_id === null ? [] : await readSamples(source.nodeMetrics, node_id, from, to);
  const ofHost = samples.map(({ at, what: values }) => {
    const input: DetectorInput = { kind: 'node_metrics', at, node_id: node_id ?? '', values };
    return { at, what: { keys: [{ of: 'node', id: node_id ?? '' } as const, toSubject(key)], input } };
  });
  return { ...counts, samples: samples.length, tracks: [ofPoints, ofJob, ofHost], attempt: key };
}

/** A line is about its run and about its attempt. */
export function toLineScene(runId: string, key: AttemptKey, line: LogLine): Scene {
  const input: DetectorInput = { kind: 'log', at: line.ts, ...key, lines: [line] };
  return { keys: [{ of: 'run', id: runId }, toSubject(key)], input };
}

function* pointScenes(run_id: string, points: readonly TimedPoint[]): Generator<Dated<Scene>> {
  for (let start = 0; start < points.length;) {
    const at = points[start]!.ts;
    let end = start + 1;
    while (end < points.length && end - start < MAX_TOGETHER && points[end]!.ts === at) end += 1;
    const input: DetectorInput = { kind: 'metric', at, run_id, points: points.slice(start, end) };
    yield { at, what: { keys: [{ of: 'run', id: run_id }], input } };
    start = end;
  }
}

function jobScenes(job: Job, key: AttemptKey, from: number, finishedAt: number | null): Dated<Scene>[] {
  const keys = [toSubject(key)];
  const toScene = (at: number, status: Job['status'], failure_reason: Job['failure_reason']) => {
    const asItWas = { ...toWatched(job), attempt: key.attempt, status, failure_reason };
    return { at, what: { keys, input: { kind: 'job', at, job: asItWas } as const } };
  };
  const start = toScene(from, 'RUNNING', null);
  if (finishedAt === null) return [start];
  const isLast = job.attempt === key.attempt;
  const end = isLast
    ? toScene(finishedAt, job.status, job.failure_reason)
    : toScene(finishedAt, 'FAILED', null);
  return [start, end];
}

/** The metrics that detectors choose; those that take all get the one with the most points, which tells the rhythm of the run. */
async function namesOf({ metrics }: SceneSource, { run: detectors }: DetectorsBySubject, run: Run) {
  const all = Object.entries((await metrics.summary(run)).metrics);
  const chosen = all.filter(([name]) => detectors.some(({ detector }) => detector.wantsMetric?.(name)));
  const busiest = all.reduce<(typeof all)[number] | null>(
    (most, one) => (most === null || one[1].count > most[1].count ? one : most),
    null,
  );
  return [...new Set([...(busiest ? [busiest[0]] : []), ...chosen.map(([name]) => name)])];
}

function toSubject({ job_id, attempt }: AttemptKey): SubjectKey {
  return { of: 'attempt', id: `${job_id}/${attempt}` };
}
