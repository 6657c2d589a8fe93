import type { LogLine, LogStream } from '@svc/contract';
import { LIST_BYTES } from '@svc/kernel';
import { linesOf, type LogRecord } from './log-record.js';

export interface LogTailQuery {
  /** The maximum number of lines. An answer also has at most `LIST_BYTES` bytes of them. */
  readonly tail: number;
  readonly stream?: LogStream | undefined;
  /** The seq of the first line, in place of the newest lines. */
  readonly from?: number | undefined;
  /** Only lines that contain this text; the whole stored log is searched. */
  readonly search?: string | undefined;
}

/** The lines that match, oldest first. `truncated`: there are fewer than asked for because more do not fit in an answer. */
export interface FoundLines {
  readonly lines: LogLine[];
  readonly truncated?: true;
}

/** Collects the newest lines of a log, starting at its end: as many as were asked for and fit in an answer, but at least one. */
export class NewestLines {
  readonly #newestFirst: LogLine[] = [];
  #sizeBytes = 0;
  #isTruncated = false;

  constructor(private readonly query: LogTailQuery) {}

  /** No more lines can be added. */
  get isFull(): boolean {
    return this.#isTruncated || this.#newestFirst.length >= this.query.tail;
  }

  get found(): FoundLines {
    const lines = this.#newestFirst.toReversed();
    return this.#isTruncated ? { lines, truncated: true } : { lines };
  }

  /** `lines` are in order and older than all that were added before. */
  addOlder(lines: readonly LogLine[]): this {
    for (let index = lines.length - 1; index >= 0 && !this.isFull; index -= 1)
      this.#add(lines[index] as LogLine);
    return this;
  }

  #add(line: LogLine): void {
    if (!matches(line, this.query)) return;
    this.#sizeBytes += Buffer.byteLength(JSON.stringify(line));
    this.#isTruncated = this.#sizeBytes > LIST_BYTES && this.#newestFirst.length > 0;
    if (!this.#isTruncated) this.#newestFirst.push(line);
  }
}

/** `records` come newest first. */
export async function tailBackward(
  records: AsyncIterable<LogRecord>,
  query: LogTailQuery,
): Promise<FoundLines> {
  const newest = new NewestLines(query);
  for await (const record of records) if (newest.addOlder(linesOf(record)).isFull) break;
  return newest.found;
}

/** `records` come oldest first. The memory in use is bounded. */
export async function tailForward(
  records: AsyncIterable<LogRecord>,
  query: LogTailQuery,
): Promise<FoundLines> {
  let lines: LogLine[] = [];
  let newChars = 0;
  let isTruncated = false;
  const keepNewest = () => {
    const { found } = new NewestLines(query).addOlder(lines);
    lines = found.lines;
    newChars = 0;
    isTruncated ||= found.truncated === true;
  };
  for await (const record of records) {
    for (const line of linesOf(record)) {
      if (!matches(line, query)) continue;
      lines.push(line);
      newChars += line.text.length;
    }
    if (lines.length > 2 * query.tail || newChars > LIST_BYTES) keepNewest();
  }
  keepNewest();
  return isTruncated && lines.length < query.tail ? { lines, truncated: true } : { lines };
}

/** `batches` come oldest first. As many lines as were asked for and fit in an answer, but at least one. */
export async function headOf(
  batches: AsyncIterable<readonly LogLine[]>,
  query: LogTailQuery,
): Promise<FoundLines> {
  const lines: LogLine[] = [];
  let sizeBytes = 0;
  for await (const batch of batches) {
    for (const line of batch) {
      if (!matches(line, query)) continue;
      sizeBytes += Buffer.byteLength(JSON.stringify(line));
      if (sizeBytes > LIST_BYTES && lines.length > 0) return { lines, truncated: true };
      if (lines.push(line) === query.tail) return { lines };
    }
  }
  return { lines };
}

function matches({ stream, text }: LogLine, query: LogTailQuery): boolean {
  return (
    (!query.stream || stream === query.stream) && (query.search === undefined || text.includes(query.search))
  );
}
