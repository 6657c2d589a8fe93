import type { AttemptKey, LogPosition, LogStream, LogsFrame } from '@svc/contract';

interface Page {
  readonly lines: string[];
  /** The high-water mark, and how many lines stand before it, given up ones too. */
  offset: number;
  lineCount: number;
  dropped: number;
  complete: boolean;
  refused: number;
}

/** Logs as the server keeps them: a frame is taken only when it starts at the mark. */
export class LogBook {
  readonly #pages = new Map<string, Page>();

  /** The mark after this frame. */
  take(frame: LogsFrame): LogPosition {
    const page = this.#page(frame, frame.stream);
    if (frame.from === page.offset) {
      page.lines.push(...frame.lines);
      page.offset = frame.to;
      page.lineCount += frame.lines.length + frame.dropped;
      page.dropped += frame.dropped;
      page.complete ||= frame.end;
    } else {
      page.refused += 1;
    }
    const { job_id, attempt, stream } = frame;
    return { job_id, attempt, stream, offset: page.offset, lines: page.lineCount };
  }

  lines(key: AttemptKey, stream: LogStream = 'stdout'): string[] {
    return this.#page(key, stream).lines;
  }

  offset(key: AttemptKey, stream: LogStream = 'stdout'): number {
    return this.#page(key, stream).offset;
  }

  /** Lines that the agent has given up. */
  dropped(key: AttemptKey, stream: LogStream = 'stdout'): number {
    return this.#page(key, stream).dropped;
  }

  /** Frames that did not start at the mark. */
  refused(key: AttemptKey, stream: LogStream = 'stdout'): number {
    return this.#page(key, stream).refused;
  }

  /** Forgets what came behind: a server that lost what it had not stored yet. */
  truncate(key: AttemptKey, stream: LogStream, lineCount: number, offset: number): void {
    const page = this.#page(key, stream);
    page.lines.length = lineCount;
    page.lineCount = lineCount;
    page.offset = offset;
    page.complete = false;
  }

  isComplete(key: AttemptKey): boolean {
    return this.#page(key, 'stdout').complete && this.#page(key, 'stderr').complete;
  }

  positions({ job_id, attempt }: AttemptKey): LogPosition[] {
    return (['stdout', 'stderr'] as const).map((stream) => {
      const { offset, lineCount } = this.#page({ job_id, attempt }, stream);
      return { job_id, attempt, stream, offset, lines: lineCount };
    });
  }

  #page({ job_id, attempt }: AttemptKey, stream: LogStream): Page {
    const key = `${job_id}/${attempt}/${stream}`;
    const page = this.#pages.get(key) ?? {
      lines: [],
      offset: 0,
      lineCount: 0,
      dropped: 0,
      complete: false,
      refused: 0,
    };
    this.#pages.set(key, page);
    return page;
  }
}
