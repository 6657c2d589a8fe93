import type { AttemptKey, DetectorReplay, LogLine, Run } from '@svc/contract';
import type { Logs } from '@svc/plugin-logs';
import type { DetectorsBySubject } from '../engine/settings.js';
import type { ToldOf } from '../engine/subjects.js';
import { mergeByTime } from './merge.js';
import { Enough, Playback } from './playback.js';
import { gatherScenes, toLineScene, type Scenes, type SceneSource } from './scenes.js';

export interface ReplaySource extends SceneSource {
  readonly logs: Logs;
}

/** For the whole replay, half of it for reading the points. */
const MAX_MS = 20_000;

/** Runs the detectors over what is stored of a run, its attempt and the host meanwhile. It ends soon after `signal` aborts. */
export async function replayRun(
  source: ReplaySource,
  detectors: DetectorsBySubject,
  run: Run,
  now: number,
  signal: AbortSignal,
): Promise<DetectorReplay> {
  const startedMs = performance.now();
  const isOver = (maxMs: number) => signal.aborted || performance.now() - startedMs > maxMs;
  const scenes = await gatherScenes(source, detectors, run, now, () => isOver(MAX_MS / 2));
  const [from, to] = [run.started_at ?? run.created_at, run.finished_at ?? now];
  const playback = new Playback(detectors, from, to, () => isOver(MAX_MS));
  const { lines, isWhole } = await playAll(playback, scenes, source.logs, run.id);
  const { points, samples, isComplete } = scenes;
  const findings = playback.told.map(toFinding);
  return { run_id: run.id, findings, points, lines, samples, complete: isComplete && isWhole };
}

/** The log is read while it is played: it may be larger than the memory. */
async function playAll(
  playback: Playback,
  { tracks, attempt }: Scenes,
  logs: Logs,
  runId: string,
): Promise<{ lines: number; isWhole: boolean }> {
  const others = mergeByTime(tracks);
  let next = others.next();
  let lines = 0;
  const playUpTo = async (at: number) => {
    for (; !next.done && next.value.at <= at; next = others.next()) await playback.play(next.value);
  };
  const playLine = async (key: AttemptKey, line: LogLine) => {
    await playUpTo(line.ts);
    await playback.play({ at: line.ts, what: toLineScene(runId, key, line) });
    lines += 1;
  };
  try {
    if (attempt)
      await logs.readFrom(attempt, 0, async (batch) => {
        for (const line of batch) await playLine(attempt, line);
      });
    await playUpTo(Infinity);
    await playback.passUntil(Infinity);
    return { lines, isWhole: true };
  } catch (error) {
    if (error instanceof Enough) return { lines, isWhole: false };
    throw error;
  }
}

function toFinding({ at, detector, finding }: ToldOf): DetectorReplay['findings'][number] {
  const { type, severity, title, message, data } = finding;
  return { at: Math.round(at), detector, type, severity, title, message, data };
}
