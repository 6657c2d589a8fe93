import type { Evidence, LogLine } from '@svc/contract';
import { splitRank } from '@svc/signals';
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

const END_LINES = 30;
/** No rule reads further in a line. */
const MAX_CHARACTERS = 4000;

const OF_ANOTHER_RANK = 0.8;
const FAR_FROM_END = 0.6;
/** The process went on, and later ended with a Python error of its own. */
const SURVIVED = 0.5;
const WARNING = 0.5;

const IS_WARNING = /\b[A-Z]\w*Warning\b|(?<!NCCL )\bWARN(?:ING)?\b|^\[?W\d{0,6} /;
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
  const last = tracebacks.findLast(({ error }) => error !== null && !IS_OF_PEER.test(error.text));
  const endSeq = last?.firstSeq ?? lines.at(-END_LINES)?.seq ?? 0;
  const before = (rank: string) => {
    if (last === undefined) return FAR_FROM_END;
    return last.rank === rank ? SURVIVED : OF_ANOTHER_RANK;
  };
  return lines.map((line) => {
    const { rank, bare } = splitRank(line.text);
    const text = bare.slice(0, MAX_CHARACTERS);
    const weight = line.seq >= endSeq ? 1 : before(rank);
    return { ...line, text, weight: IS_WARNING.test(text) ? weight * WARNING : weight };
  });
}
