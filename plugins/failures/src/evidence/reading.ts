import type { Evidence, LogLine } from '@svc/contract';
import { isTrouble, splitRank } from '@svc/signals';
import { findTracebacks, type Traceback } from './traceback.js';

/** What several rules need of the same evidence, read once. */
export interface Reading {
  /** Without the prefix of a rank, oldest first. */
  readonly lines: readonly ReadLine[];
  readonly tracebacks: readonly Traceback[];
}

export interface ReadLine extends LogLine {
  /** How much an error in the line tells about the end of the process, from 0 to 1. */
  readonly weight: number;
}

/** So many ordinary lines behind an error show that the process went on: of its own stream and rank, or of all. */
const WENT_ON_OWN = 10;
const WENT_ON_ANY = 30;
/** No rule reads further in a line. */
const MAX_CHARACTERS = 4000;

const OF_ANOTHER_RANK = 0.8;
/** A traceback most often ends a process, which may still write a lot while it stops. */
const FAR_FROM_END = 0.6;
/** The process went on, or later ended with a Python error of its own. */
const SURVIVED = 0.5;
const WARNING = 0.5;

const IS_WARNING = new RegExp(
  [
    String.raw`\b[A-Z]\w*Warning\b|\b[Ww]arning:|(?<!NCCL )\bWARN(?:ING)?\b|^\[?W\d{0,6} `,
    // The program says itself that it goes on, or it tidies up.
    String.raw`\b(?:[Ff]alling back|[Ff]allback|[Cc]ontinuing|[Rr]etrying|retry loop|[Ss]kipping|[Ii]gnoring|[Rr]educing)\b|, using\b`,
    '^(?:wandb|rm|rmdir|kill|pkill): ',
  ].join('|'),
);
/** A frame of native code, as below an error of CUDA. */
const IS_NATIVE_FRAME = /^frame #\d+:/;
/** Another rank failed first: what stands before counts too. */
const IS_OF_PEER = /\bDistBackendError\b|\bNCCL communicator was aborted\b/;

const readings = new WeakMap<object, Reading>();

export function readingOf(evidence: Evidence['attempt']): Reading {
  const known = readings.get(evidence.lines);
  if (known) return known;
  const tracebacks = findTracebacks(evidence.lines);
  const reading = { lines: weigh(evidence.lines, tracebacks), tracebacks };
  readings.set(evidence.lines, reading);
  return reading;
}

function weigh(lines: readonly LogLine[], tracebacks: readonly Traceback[]): ReadLine[] {
  const survived = toSurvived(lines);
  const last = tracebacks.findLast(({ error }) => error !== null && !IS_OF_PEER.test(error.text));
  const weightOfLast = last?.error && survived.has(last.error.seq) ? FAR_FROM_END : 1;
  const weightOf = (seq: number, rank: string) => {
    if (last === undefined) return survived.has(seq) ? SURVIVED : 1;
    if (seq >= last.firstSeq) return weightOfLast;
    return last.rank === rank ? SURVIVED : OF_ANOTHER_RANK;
  };
  return lines.map((line) => {
    const { rank, bare } = splitRank(line.text);
    const text = bare.slice(0, MAX_CHARACTERS);
    const weight = weightOf(line.seq, rank);
    return { ...line, text, weight: IS_WARNING.test(text) ? weight * WARNING : weight };
  });
}

/** The lines behind which the process went on. Lines that were not kept are ordinary ones. */
function toSurvived(lines: readonly LogLine[]): ReadonlySet<number> {
  const survived = new Set<number>();
  const ofSource = new Map<string, number>();
  let ofAny = 0;
  let nextSeq: number | undefined;
  for (const { seq, stream, text } of lines.toReversed()) {
    ofAny += (nextSeq ?? seq + 1) - seq - 1;
    nextSeq = seq;
    const { rank, bare } = splitRank(text);
    const ofOwn = ofSource.get(stream + rank) ?? 0;
    if (ofOwn >= WENT_ON_OWN || ofAny >= WENT_ON_ANY) survived.add(seq);
    if (!isOrdinary(bare)) continue;
    ofSource.set(stream + rank, ofOwn + 1);
    ofAny += 1;
  }
  return survived;
}

/** It tells of no trouble, and is no part of a message or a trace of several lines. */
function isOrdinary(bare: string): boolean {
  return /^[\p{L}\p{N}[(]/u.test(bare) && !isTrouble(bare) && !IS_NATIVE_FRAME.test(bare);
}
