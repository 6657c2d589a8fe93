import type { LogLine, LogsFrame, LogStream } from '@svc/contract';

/** Where a log stands: byte offsets of the agent's files that are stored, lines that its agent gave up, streams that are complete. */
export interface LogState {
  readonly marks: Readonly<Record<LogStream, number>>;
  readonly ended: Readonly<Record<LogStream, boolean>>;
  readonly dropped: number;
  readonly next_seq: number;
}

/** One line of the file: a batch of log lines, and where the log stands after it. */
export interface LogRecord {
  /** Of the first line. */
  readonly seq: number;
  readonly stream: LogStream;
  readonly from: number;
  readonly to: number;
  readonly ts: number;
  readonly lines: readonly string[];
  readonly dropped: number;
  readonly after: LogState;
}

export const EMPTY_STATE: LogState = {
  marks: { stdout: 0, stderr: 0 },
  ended: { stdout: false, stderr: false },
  dropped: 0,
  next_seq: 0,
};

/** The record of a frame, or null when it brings nothing new: it does not begin at the mark, or the stream has ended. */
export function toRecord(state: LogState, frame: LogsFrame): LogRecord | null {
  const { stream, from, to, ts, lines, dropped, end } = frame;
  const isNext = from === state.marks[stream] && to >= from && !state.ended[stream];
  if (!isNext || (to === from && !end)) return null;
  const after: LogState = {
    marks: { ...state.marks, [stream]: to },
    ended: { ...state.ended, [stream]: end },
    dropped: state.dropped + dropped,
    next_seq: state.next_seq + lines.length,
  };
  return { seq: state.next_seq, stream, from, to, ts, lines, dropped, after };
}

export function isComplete({ ended }: LogState): boolean {
  return ended.stdout && ended.stderr;
}

export function toBytes(record: LogRecord): Buffer {
  return Buffer.from(`${JSON.stringify(record)}\n`);
}

/** null for a line that is torn: what a crash of the host can leave at the end of the file. */
export function parseRecord(line: Buffer): LogRecord | null {
  try {
    return JSON.parse(line.toString()) as LogRecord;
  } catch {
    return null;
  }
}

export function linesOf({ seq, stream, ts, lines }: LogRecord): LogLine[] {
  return lines.map((text, index) => ({ seq: seq + index, stream, ts, text }));
}
