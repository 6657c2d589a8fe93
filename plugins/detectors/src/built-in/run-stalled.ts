import { strict, type Detector, type DetectorInput } from '@svc/contract';
import { medianOf, silenceLimitMs } from '@svc/signals';
import { Type } from 'typebox';

const options = strict({
  min_silence_s: Type.Number({
    minimum: 60,
    default: 600,
    description: 'No shorter silence is trouble.',
  }),
  unknown_rhythm_s: Type.Number({
    minimum: 60,
    default: 1800,
    description:
      'No shorter silence is trouble while the run has not reported for as long as it has been silent.',
  }),
});

/** Reports that come within this time are one. */
const ONE_REPORT_MS = 1_000;
const GAPS = 64;
/** The longest silence so far may be exceeded by this factor. */
const LONGEST_FACTOR = 2;
const FINGERPRINT = 'silent';

interface Memory {
  readonly options: { readonly min_silence_s: number; readonly unknown_rhythm_s: number };
  isRunning: boolean;
  firstAt: number | null;
  lastAt: number | null;
  /** Times between reports, the newest last. */
  gapsMs: number[];
  longestMs: number;
}

/** A run that reports nothing for far longer than it used to. */
export const runStalled: Detector<typeof options, Memory> = {
  name: 'run-stalled',
  of: 'run',
  takes: ['metric', 'log', 'run', 'job', 'tick'],
  finds: [
    {
      type: 'RUN_STALLED',
      severity: 'warning',
      when: 'a run that is RUNNING has sent no point and no line for 10 times its usual interval, twice its longest silence, and 10 minutes',
    },
  ],
  optionsSchema: options,
  cooldownS: 3_600,
  init: (given) => ({
    options: given,
    isRunning: true,
    firstAt: null,
    lastAt: null,
    gapsMs: [],
    longestMs: 0,
  }),
  step(memory, input) {
    if (input.kind === 'run') return setRunning(memory, input.run.status === 'RUNNING', input.at);
    if (input.kind === 'job') return setRunning(memory, input.job.status === 'RUNNING', input.at);
    if (input.kind !== 'tick') return report(memory, input);
    const silentMs = memory.isRunning && memory.lastAt !== null ? input.at - memory.lastAt : 0;
    if (silentMs < limitMs(memory)) return { memory, findings: [] };
    const minutes = Math.round(silentMs / 60_000);
    const finding = {
      fingerprint: FINGERPRINT,
      type: 'RUN_STALLED',
      severity: 'warning' as const,
      title: `Nothing has come from the run for ${minutes} minutes`,
      message:
        'Its process still runs, and has sent neither a point nor a line for much longer than it used to.',
      data: { silent_s: Math.round(silentMs / 1000) },
    };
    return { memory, findings: [finding] };
  },
};

/** How long it may be silent: learnt from its own rhythm, as soon as it has one. */
function limitMs({ options, gapsMs, longestMs, firstAt, lastAt }: Memory): number {
  const usualMs = gapsMs.length === 0 ? 0 : medianOf(Float64Array.from(gapsMs));
  const learntMs = Math.max(
    options.min_silence_s * 1000,
    silenceLimitMs(usualMs),
    LONGEST_FACTOR * longestMs,
  );
  const isLearnt = (lastAt ?? 0) - (firstAt ?? 0) >= learntMs;
  return isLearnt ? learntMs : Math.max(learntMs, options.unknown_rhythm_s * 1000);
}

function report(memory: Memory, { at }: DetectorInput) {
  memory.firstAt ??= at;
  const gapMs = at - (memory.lastAt ?? at);
  if (gapMs >= ONE_REPORT_MS) {
    memory.gapsMs.push(gapMs);
    if (memory.gapsMs.length > GAPS) memory.gapsMs.shift();
    memory.longestMs = Math.max(memory.longestMs, gapMs);
  }
  if (memory.lastAt === null || gapMs >= ONE_REPORT_MS) memory.lastAt = at;
  return { memory, findings: [], over: [FINGERPRINT] };
}

/** The time in which a run is LOST, or its job is, counts for nothing. */
function setRunning(memory: Memory, isRunning: boolean, at: number) {
  if (isRunning && !memory.isRunning && memory.lastAt !== null) memory.lastAt = at;
  memory.isRunning = isRunning;
  return { memory, findings: [], over: isRunning ? [] : [FINGERPRINT] };
}
