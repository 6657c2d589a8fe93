import type { LogLine, LogStream } from '@svc/contract';
import type { PluginContext, SseStream } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import { AttemptEnd } from './attempt-end.js';
import { cursorBefore, type AttemptLog, type Cursor, type Page } from './attempt-log.js';
import type { PartialLines } from './partial-lines.js';
import { PartialView } from './partial-view.js';

/** The limits of what is handed to the stream at once: it closes a client with too much unsent data, except for a single line. */
const MAX_LINES_IN_FLIGHT = 16;
const MAX_BYTES_IN_FLIGHT = 64 * 1024;
/** Upper bounds: a line as JSON without its text, and one character of the text. */
const LINE_BYTES = 100;
const CHARACTER_BYTES = 6;

export interface FollowQuery {
  readonly stream?: LogStream | undefined;
  /** How many past lines are sent first, unless the client resumes. */
  readonly tail: number;
  /** The seq of the line to begin with, in place of a tail. */
  readonly from?: number | undefined;
}

/** A log, and where its lines without an end are. */
export interface FollowedLog {
  readonly log: AttemptLog;
  readonly partials: PartialLines;
}

type FollowContext = Pick<PluginContext, 'db' | 'clock'>;

/**
 * Sends the lines of a log until it is over, with back-pressure: what the client has not received yet stays in the ring or on disk, so a
 * slow client costs no memory and loses nothing.
 */
export async function followLog(
  ctx: FollowContext,
  jobs: Jobs,
  { log, partials }: FollowedLog,
  query: FollowQuery,
  stream: SseStream,
): Promise<void> {
  const wake = () => log.wake();
  stream.signal.addEventListener('abort', wake);
  const end = new AttemptEnd(ctx, jobs, log);
  const view = new PartialView(ctx, partials, log, query.stream);
  let cursor = await start(log, query, stream);
  while (!stream.signal.aborted) {
    const { seen } = log;
    const page = await log.page(cursor);
    cursor = page.next;
    await send(page, query, stream);
    view.linesSent(page.lines);
    if (page.lines.length > 0) continue;
    const partialMs = await view.send(stream);
    const waitMs = await end.waitMs();
    if (log.seen !== seen) continue;
    if (waitMs === 0) return stream.end();
    const timer = ctx.clock.setTimeout(wake, Math.min(waitMs, partialMs));
    await log.changed(seen);
    timer.clear();
  }
}

/**
 * The cursor after the lines that the client has, or after the tail that is sent here. A client whose last line is beyond the end has it
 * from another attempt, or from before a restore: it gets the whole log, as repeated lines are better than missing ones.
 */
async function start(log: AttemptLog, query: FollowQuery, stream: SseStream): Promise<Cursor> {
  const resumed = toSeq(stream.lastEventId);
  const behind = log.state.next_seq;
  if (resumed !== null) return cursorBefore(resumed < behind ? resumed + 1 : 0);
  if (query.from !== undefined) return cursorBefore(query.from);
  const lines = query.tail === 0 ? [] : (await log.tail({ stream: query.stream, tail: query.tail })).lines;
  await send({ lines: lines.filter(({ seq }) => seq < behind) }, query, stream);
  return cursorBefore(behind);
}

/** Sends a few lines at a time, so that little data waits in the stream. */
async function send(
  { lines }: Pick<Page, 'lines'>,
  { stream: wanted }: FollowQuery,
  stream: SseStream,
): Promise<void> {
  const matching = lines.filter((line) => !wanted || line.stream === wanted);
  for (let first = 0; first < matching.length && !stream.signal.aborted;) {
    const batch = nextBatch(matching, first);
    await Promise.all(batch.map((line) => stream.write({ id: line.seq, data: line })));
    first += batch.length;
  }
}

function nextBatch(lines: readonly LogLine[], first: number): readonly LogLine[] {
  const batch = lines.slice(first, first + MAX_LINES_IN_FLIGHT);
  let sizeBytes = 0;
  const over = batch.findIndex(({ text }) => {
    sizeBytes += LINE_BYTES + CHARACTER_BYTES * text.length;
    return sizeBytes > MAX_BYTES_IN_FLIGHT;
  });
  return over < 0 ? batch : batch.slice(0, Math.max(1, over));
}

/** null when the id is not one of this stream. */
function toSeq(lastEventId: string | null): number | null {
  return lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
}
