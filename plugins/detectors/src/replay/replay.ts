import type { DetectorInput, DetectorReplay, Job, LogLine, MetricPoint, Run } from '@svc/contract';
import { yieldIfSliceOver, type Db } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { Logs } from '@svc/plugin-logs';
import type { Metrics } from '@svc/plugin-metrics';
import type { NodeMetrics } from '@svc/plugin-node-metrics';
import type { DetectorsBySubject } from '../engine/settings.js';
import { Subjects, type SubjectKey, type ToldOf } from '../engine/subjects.js';
import { lineTrack, pointTracks, sampleTrack, type Dated, type Track } from './history.js';
import { mergeByTime } from './merge.js';

export interface ReplaySource {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly logs: Logs;
  readonly metrics: Metrics;
  readonly nodeMetrics: NodeMetrics;
}

/** What happened to a run, and to whom. */
interface Scene {
  readonly keys: readonly SubjectKey[];
  readonly input: DetectorInput;
}

const TICK_MS = 5_000;
/** A long history gets fewer ticks. */
const MAX_TICKS = 100_000;
const MAX_MS = 20_000;
const MAX_FINDINGS = 1_000;

/** Runs the detectors over what is stored of a run, its attempt and the host meanwhile. */
export async function replayRun(
  source: ReplaySource,
  detectors: DetectorsBySubject,
  run: Run,
  now: number,
): Promise<DetectorReplay> {
  const deadlineMs = performance.now() + MAX_MS;
  const { scenes, ...counts } = await gather(source, detectors, run, now);
  const [from, to] = [run.started_at ?? run.created_at, run.finished_at ?? now];
  const subjects = new Subjects(detectors, (_, error) => {
    throw error;
  });
  const told: ToldOf[] = [];
  const everyMs = Math.max(TICK_MS, (to - from) / MAX_TICKS);
  let [tickedAt, isComplete] = [from, counts.isComplete];
  for (const { at: given, what } of mergeByTime([...scenes, [{ at: to, what: null }]])) {
    // The training gives the times of its points: one may lie in the far future.
    const at = Math.min(given, to);
    for (; tickedAt + everyMs <= at; tickedAt += everyMs) {
      told.push(...subjects.tick(tickedAt + everyMs));
      await yieldIfSliceOver();
    }
    for (const key of what?.keys ?? []) told.push(...subjects.feed(key, { ...what!.input, at }));
    await yieldIfSliceOver();
    if (performance.now() < deadlineMs && told.length < MAX_FINDINGS) continue;
    isComplete = false;
    break;
  }
  const { points, lines, samples } = counts;
  return { run_id: run.id, findings: told.map(toFinding), points, lines, samples, complete: isComplete };
}

function toFinding({ at, detector, finding }: ToldOf): DetectorReplay['findings'][number] {
  const { type, severity = 'warning', title, message = '', data = {} } = finding;
  return { at: Math.round(at), detector, type, severity, title, message, data };
}

async function gather(source: ReplaySource, detectors: DetectorsBySubject, run: Run, now: number) {
  const ofRun: SubjectKey = { of: 'run', id: run.id };
  const scenes: Dated<Scene>[][] = [];
  let [isComplete, points, lines, samples] = [true, 0, 0, 0];
  const note = ({ items, isComplete: isWhole }: Track<unknown>) => {
    isComplete &&= isWhole;
    return items.length;
  };
  for await (const track of pointTracks(source.metrics, run.id, await namesOf(source, detectors, run))) {
    points += note(track);
    scenes.push(track.items.map(({ at, what }) => ({ at, what: toPointScene(ofRun, what, at) })));
  }
  const job = run.job_id === null ? null : await source.jobs.get(source.db, run.job_id);
  const key = { job_id: run.job_id ?? '', attempt: run.attempt ?? 1 };
  const place = job && (await source.jobs.attempt(source.db, key));
  if (!job || !place) return { scenes, isComplete, points, lines, samples };
  const ofAttempt: SubjectKey = { of: 'attempt', id: `${key.job_id}/${key.attempt}` };
  const log = await lineTrack(source.logs, key);
  lines = note(log);
  scenes.push(
    log.items.map(({ at, what }) => ({ at, what: toLineScene([ofRun, ofAttempt], key, what, at) })),
  );
  const [from, to] = [place.started_at ?? run.created_at, place.finished_at ?? now];
  const asItRan = { ...job, attempt: key.attempt, env: {} };
  const toJobScene = (at: number, status: Job['status'], failure_reason: Job['failure_reason']) => {
    const input: DetectorInput = { kind: 'job', at, job: { ...asItRan, status, failure_reason } };
    return [{ at, what: { keys: [ofAttempt], input } }];
  };
  scenes.push(toJobScene(from, 'RUNNING', null));
  const isLast = job.attempt === key.attempt;
  if (place.finished_at !== null)
    scenes.push(toJobScene(to, isLast ? job.status : 'FAILED', isLast ? job.failure_reason : null));
  const { node_id } = place;
  if (node_id === null) return { scenes, isComplete, points, lines, samples };
  const host = await sampleTrack(source.nodeMetrics, node_id, from, to);
  samples = note(host);
  const keys = [{ of: 'node', id: node_id } as const, ofAttempt];
  scenes.push(
    host.items.map(({ at, what: values }) => {
      const input: DetectorInput = { kind: 'node_metrics', at, node_id, values };
      return { at, what: { keys, input } };
    }),
  );
  return { scenes, isComplete, points, lines, samples };
}

/** The metrics that detectors choose; those that take all get the one with the most points, which tells the rhythm of the run. */
async function namesOf({ metrics }: ReplaySource, { run: detectors }: DetectorsBySubject, run: Run) {
  const all = Object.entries((await metrics.summary(run)).metrics);
  const chosen = all.filter(([name]) => detectors.some(({ detector }) => detector.wantsMetric?.(name)));
  const busiest = all.reduce<(typeof all)[number] | null>(
    (most, one) => (most === null || one[1].count > most[1].count ? one : most),
    null,
  );
  return [...new Set([...(busiest ? [busiest[0]] : []), ...chosen.map(([name]) => name)])];
}

function toPointScene(key: SubjectKey, point: MetricPoint, at: number): Scene {
  return { keys: [key], input: { kind: 'metric', at, run_id: key.id, points: [point] } };
}

function toLineScene(
  keys: readonly SubjectKey[],
  key: { readonly job_id: string; readonly attempt: number },
  line: LogLine,
  at: number,
): Scene {
  return { keys, input: { kind: 'log', at, ...key, lines: [line] } };
}
