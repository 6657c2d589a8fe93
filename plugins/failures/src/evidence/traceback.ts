import type { LogLine, StackFrame } from '@svc/contract';
import { splitRank } from '@svc/signals';

/** One Python traceback. `error` is null when the log ends before it. */
export interface Traceback {
  /** Of the error that it was raised from, if there is one. */
  readonly firstSeq: number;
  readonly rank: string;
  readonly frames: readonly StackFrame[];
  readonly error: LogLine | null;
}

const HEADER = /^(?:Original )?Traceback \(most recent call last\)/;
/** The traceback that follows belongs to the one before. */
const CHAIN =
  /^During handling of the above exception|^The above exception was the direct cause|^Original Traceback/;
const FRAME = /^\s+File "(.+)", line (\d+)(?:, in (.+))?$/;
/** Errors that only say that a child process has failed: the error of the child counts. */
const RELAY = /^(?:[\w]+\.)*(?:ChildFailedError|CalledProcessError|Process(?:Raised|Exited)Exception)\b/;
/** Python continues after these errors, which are common at the end of a process. */
const IGNORED = /^Exception ignored in\b/;
const LIBRARY =
  /[\\/](?:site-packages|dist-packages|lib(?:64)?[\\/]python\d[\d.]*)[\\/]|^<frozen |^<__array_function__/;

/** The tracebacks among the lines, in the order of their errors. Those of each stream and rank are read apart. */
export function findTracebacks(lines: readonly LogLine[]): Traceback[] {
  const open = new Map<string, OpenTraceback>();
  const lastFirst = new Map<string, number>();
  const chained = new Map<string, number>();
  const found: Traceback[] = [];
  for (const line of lines) {
    const { rank, bare } = splitRank(line.text);
    const source = line.stream + rank;
    const current = open.get(source);
    const isIgnored = IGNORED.test(bare);
    const first = lastFirst.get(source);
    if (first !== undefined && CHAIN.test(bare)) chained.set(source, first);
    if (isIgnored || HEADER.test(bare)) {
      if (current?.frames.length) found.push(current.toTraceback(null));
      const firstSeq = chained.get(source) ?? line.seq;
      chained.delete(source);
      lastFirst.set(source, firstSeq);
      open.set(source, new OpenTraceback(firstSeq, rank, isIgnored || (current?.isEmptyIgnored ?? false)));
    } else if (current && !current.add(bare)) {
      open.delete(source);
      if (!current.isIgnored && !RELAY.test(bare)) found.push(current.toTraceback({ ...line, text: bare }));
    }
  }
  for (const traceback of open.values())
    if (traceback.frames.length > 0 && !traceback.isIgnored) found.push(traceback.toTraceback(null));
  return found;
}

/** The last frame in code that is no library's; the last of all when every frame is a library's. */
export function lastUserFrame({ frames }: Traceback): StackFrame | null {
  return frames.findLast(({ file }) => !LIBRARY.test(file)) ?? frames.at(-1) ?? null;
}

/** The frame that a line names, for a syntax error, which has no traceback. */
export function toFrame(bare: string): StackFrame | null {
  const match = FRAME.exec(bare);
  return match && { file: match[1] ?? '', line: Number(match[2]), function: match[3] ?? null, code: null };
}

class OpenTraceback {
  readonly frames: StackFrame[] = [];

  constructor(
    private readonly firstSeq: number,
    private readonly rank: string,
    readonly isIgnored: boolean,
  ) {}

  /** The line `Exception ignored in` comes before the header of the traceback. */
  get isEmptyIgnored(): boolean {
    return this.isIgnored && this.frames.length === 0;
  }

  /** False for the line behind the frames, which is the error. */
  add(bare: string): boolean {
    const frame = toFrame(bare);
    if (frame) this.frames.push(frame);
    else if (/^\S/.test(bare)) return this.frames.length === 0 && this.isIgnored;
    else this.#addCode(bare.trim());
    return true;
  }

  toTraceback(error: LogLine | null): Traceback {
    return { firstSeq: this.firstSeq, rank: this.rank, frames: this.frames, error };
  }

  /** The source line below a frame; not the carets below that. */
  #addCode(code: string): void {
    const last = this.frames.at(-1);
    if (last?.code === null && code !== '' && !/^[~^]+$/.test(code))
      this.frames[this.frames.length - 1] = { ...last, code };
  }
}
