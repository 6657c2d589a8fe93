import type { LogLine, LogStream } from '@svc/contract';
import { LIST_BYTES } from '@svc/kernel';
import { linesOf, type LogRecord } from './log-record.js';

export interface LogTailQuery {
  /** At most so many lines, the newest ones, and at most what an answer shows of a list in bytes. */
  readonly tail: number;
  readonly stream?: LogStream | undefined;
  /** Only lines that hold this text; the whole stored log is searched. */
  readonly search?: string | undefined;
}

/** The newest lines that match, oldest first. `truncated`: fewer than were asked for, for more do not fit in an answer. */
export interface FoundLines {
  readonly lines: LogLine[];
  readonly truncated?: true;
}

/** Collects the newest lines of a log, from its end on: so many as are asked for and fit in an answer, at least one. */
export class NewestLines {
  readonly #newestFirst: LogLine[] = [];
  #sizeBytes = 0;
  #isCut = false;

  constructor(private readonly query: LogTailQuery) {}

  /** No older line is wanted. */
  get isFull(): boolean {
    return this.#isCut || this.#newestFirst.length >= this.query.tail;
  }

  get found(): FoundLines {
    const lines = this.#newestFirst.toReversed();
    return this.#isCut ? { lines, truncated: true } : { lines };
  }

  /** Lines in their order, older than all before. */
  addOlder(lines: readonly LogLine[]): this {
    for (let index = lines.length - 1; index >= 0 && !this.isFull; index -= 1)
      this.#add(lines[index] as LogLine);
    return this;
  }

  #add(line: LogLine): void {
    if (!matches(line, this.query)) return;
    this.#sizeBytes += Buffer.byteLength(JSON.stringify(line));
    this.#isCut = this.#sizeBytes > LIST_BYTES && this.#newestFirst.length > 0;
    if (!this.#isCut) this.#newestFirst.push(line);
  }
}

/** Of records from the last one back. */
export async function tailBackward(
  records: AsyncIterable<LogRecord>,
  query: LogTailQuery,
): Promise<FoundLines> {
  const newest = new NewestLines(query);
  for await (const record of records) if (newest.addOlder(linesOf(record)).isFull) break;
  return newest.found;
}

/** Of records from the first one on. What is kept meanwhile is bounded as well. */
export async function tailForward(
  records: AsyncIterable<LogRecord>,
  query: LogTailQuery,
): Promise<FoundLines> {
  let lines: LogLine[] = [];
  let newChars = 0;
  let isCut = false;
  const keepNewest = () => {
    const { found } = new NewestLines(query).addOlder(lines);
    lines = found.lines;
    newChars = 0;
    isCut ||= found.truncated === true;
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
  return isCut && lines.length < query.tail ? { lines, truncated: true } : { lines };
}

function matches({ stream, text }: LogLine, query: LogTailQuery): boolean {
  return (
    (!query.stream || stream === query.stream) && (query.search === undefined || text.includes(query.search))
  );
}
