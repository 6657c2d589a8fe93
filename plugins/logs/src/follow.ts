import type { LogLine, LogStream } from '@svc/contract';
import type { PluginContext, SseStream } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import { AttemptEnd } from './attempt-end.js';
import { cursorBefore, type AttemptLog, type Cursor, type Page } from './attempt-log.js';

/** What is handed to the stream at once: it cuts a client that has more on its way than its share, but for a single line. */
const LINES_ON_THE_WAY = 16;
const BYTES_ON_THE_WAY = 64 * 1024;
/** A line as JSON without its text, and a character of the text in the worst encoding. */
const LINE_BYTES = 100;
const CHARACTER_BYTES = 6;

export interface FollowQuery {
  readonly stream?: LogStream | undefined;
  /** So many lines of the past come first; not when the client resumes. */
  readonly tail: number;
}

type Surroundings = Pick<PluginContext, 'db' | 'clock'>;

/**
 * Sends the lines of a log until it is over. The client's pace is kept: what it has not taken yet stays in the ring or on the
 * disk, so a slow client costs no memory and loses nothing.
 */
export async function followLog(
  ctx: Surroundings,
  jobs: Jobs,
  log: AttemptLog,
  query: FollowQuery,
  stream: SseStream,
): Promise<void> {
  const wake = () => log.wake();
  stream.signal.addEventListener('abort', wake);
  const end = new AttemptEnd(ctx, jobs, log);
  let cursor = await start(log, query, stream);
  while (!stream.signal.aborted) {
    const { seen } = log;
    const page = await log.page(cursor);
    cursor = page.next;
    await send(page, query, stream);
    if (page.lines.length > 0) continue;
    const waitMs = await end.waitMs();
    if (log.seen !== seen) continue;
    if (waitMs === 0) return stream.end();
    const timer = ctx.clock.setTimeout(wake, waitMs);
    await log.changed(seen);
    timer.clear();
  }
}

/**
 * Behind what the client has, or behind the tail that it is sent here. Who has more than there is has it of another attempt, or of a
 * log that was longer before a restore: it gets everything, for a line twice is better than a line never.
 */
async function start(log: AttemptLog, query: FollowQuery, stream: SseStream): Promise<Cursor> {
  const resumed = toSeq(stream.lastEventId);
  const behind = log.state.next_seq;
  if (resumed !== null) return cursorBefore(resumed < behind ? resumed + 1 : 0);
  const lines = query.tail === 0 ? [] : (await log.tail({ stream: query.stream, tail: query.tail })).lines;
  await send({ lines: lines.filter(({ seq }) => seq < behind) }, query, stream);
  return cursorBefore(behind);
}

/** A few lines at a time, so that what is on its way to the client stays small. */
async function send(
  { lines }: Pick<Page, 'lines'>,
  { stream: wanted }: FollowQuery,
  stream: SseStream,
): Promise<void> {
  const matching = lines.filter((line) => !wanted || line.stream === wanted);
  for (let first = 0; first < matching.length && !stream.signal.aborted;) {
    const few = takeFew(matching, first);
    await Promise.all(few.map((line) => stream.write({ id: line.seq, data: line })));
    first += few.length;
  }
}

function takeFew(lines: readonly LogLine[], first: number): readonly LogLine[] {
  const few = lines.slice(first, first + LINES_ON_THE_WAY);
  let sizeBytes = 0;
  const over = few.findIndex(({ text }) => {
    sizeBytes += LINE_BYTES + CHARACTER_BYTES * text.length;
    return sizeBytes > BYTES_ON_THE_WAY;
  });
  return over < 0 ? few : few.slice(0, Math.max(1, over));
}

/** null when it is no id of ours. */
function toSeq(lastEventId: string | null): number | null {
  return lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
}
