import type { LogLine, LogStream } from '@svc/contract';
import type { PluginContext, SseStream } from '@svc/kernel';
import type { AttemptLog } from './attempt-log.js';
import type { PartialLines } from './partial-lines.js';

const EVERY_MS = 1000;

/** What one client sees of the lines that have no end yet: the last state of each, at most once a second for each stream. */
export class PartialView {
  readonly #shown: Record<LogStream, string> = { stdout: '', stderr: '' };
  readonly #sentAt: Record<LogStream, number> = { stdout: -Infinity, stderr: -Infinity };

  constructor(
    private readonly ctx: Pick<PluginContext, 'clock'>,
    private readonly partials: PartialLines,
    private readonly log: AttemptLog,
    private readonly only: LogStream | undefined,
  ) {}

  /** A client shows no unfinished line of a stream behind a line of it. */
  linesSent(lines: readonly LogLine[]): void {
    for (const { stream } of lines) this.#shown[stream] = '';
  }

  /** Sends what has changed; resolves with the time until what is left may be sent, Infinity when nothing is. */
  async send(stream: SseStream): Promise<number> {
    const present = this.partials.of(this.log);
    let waitMs = Infinity;
    for (const name of ['stdout', 'stderr'] as const) {
      const text = present.find((partial) => partial.stream === name)?.text ?? '';
      if (text === this.#shown[name] || (this.only && name !== this.only)) continue;
      const now = this.ctx.clock.now();
      const dueMs = this.#sentAt[name] + EVERY_MS - now;
      if (dueMs > 0) {
        waitMs = Math.min(waitMs, dueMs);
        continue;
      }
      this.#shown[name] = text;
      this.#sentAt[name] = now;
      await stream.write({ event: 'partial', data: { stream: name, text } });
    }
    return waitMs;
  }
}
