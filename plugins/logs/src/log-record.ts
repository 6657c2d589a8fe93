import type { LogLine, LogsFrame, LogStream } from '@svc/contract';

/**
 * The state of a log after a record: up to which byte offset the agent's files are stored (`marks`), how many lines of those files that
 * is, which streams are complete, and how many lines the agent dropped.
 */
export interface LogState {
  readonly marks: Readonly<Record<LogStream, number>>;
  readonly lines: Readonly<Record<LogStream, number>>;
  readonly ended: Readonly<Record<LogStream, boolean>>;
  readonly dropped: number;
  readonly next_seq: number;
}

/** One line of the file: a batch of log lines, and the state of the log after it. */
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
  lines: { stdout: 0, stderr: 0 },
  ended: { stdout: false, stderr: false },
  dropped: 0,
  next_seq: 0,
};

/**
 * The record of a frame, or null when it is not the next one: it does not begin at the stored offset, or the stream has ended. If the
 * agent dropped lines, the record begins with a line that says so.
 */
export function toRecord(state: LogState, frame: LogsFrame): LogRecord | null {
  const { stream, from, to, ts, dropped, end } = frame;
  const isNext = from === state.marks[stream] && to >= from && !state.ended[stream];
  if (!isNext || (to === from && !end)) return null;
  const lines = dropped > 0 ? [toNotice(frame), ...frame.lines] : frame.lines;
  const after: LogState = {
    marks: { ...state.marks, [stream]: to },
    lines: { ...state.lines, [stream]: state.lines[stream] + frame.lines.length + dropped },
    ended: { ...state.ended, [stream]: end },
    dropped: state.dropped + dropped,
    next_seq: state.next_seq + lines.length,
  };
  return { seq: state.next_seq, stream, from, to, ts, lines, dropped, after };
}

/** The line that replaces dropped lines. */
function toNotice({ dropped, ts }: LogsFrame): string {
  const what = dropped === 1 ? '1 line was' : `${dropped} lines were`;
  return `[svc] ${what} given up here at ${new Date(ts).toISOString()}: the log spool of the node was full`;
}

export function isComplete({ ended }: LogState): boolean {
  return ended.stdout && ended.stderr;
}

export function toBytes(record: LogRecord): Buffer {
  return Buffer.from(`${JSON.stringify(record)}\n`);
}

/** null for an incomplete line, which a crash of the host can leave at the end of the file. */
export function parseRecord(line: Buffer): LogRecord | null {
  try {
    return JSON.parse(line.toString()) as LogRecord;
  } catch {
    return null;
  }
}

const END = /"next_seq":(\d+)\}\}$/;
const END_BYTES = 40;

/** Whether all lines of the record come before that seq. Its last bytes tell: what a reader does not want is not parsed. */
export function isBefore(line: Buffer, seq: number): boolean {
  const [, next] = END.exec(line.toString('latin1', Math.max(0, line.length - END_BYTES))) ?? [];
  return next !== undefined && Number(next) <= seq;
}

export function linesOf({ seq, stream, ts, lines }: LogRecord): LogLine[] {
  return lines.map((text, index) => ({ seq: seq + index, stream, ts, text }));
}
