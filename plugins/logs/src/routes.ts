import { routes as contract, type AttemptKey, type LogStream } from '@svc/contract';
import { download, fail, ok, sse, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import { Readable } from 'node:stream';
import type { AttemptLog } from './attempt-log.js';
import { followLog } from './follow.js';
import { linesOf, type LogRecord } from './log-record.js';
import type { LogStore } from './log-store.js';
import type { PartialLines } from './partial-lines.js';

interface RouteParts {
  readonly ctx: PluginContext;
  readonly store: LogStore;
  readonly partials: PartialLines;
  readonly jobs: Jobs;
}

export function addRoutes(routes: RouteCollector, { ctx, store, partials, jobs }: RouteParts): void {
  /** The attempt asked for, else the job's present one. */
  async function requireAttempt(jobId: string, wanted: number | undefined): Promise<AttemptKey> {
    const job = await jobs.require(ctx.db, jobId);
    const attempt = wanted ?? job.attempt;
    if (attempt > job.attempt)
      fail('not_found', `job ${job.id} has no attempt ${attempt}; its last is ${job.attempt}`);
    return { job_id: job.id, attempt };
  }

  /** The lines without an end, which are not searched. */
  function partialOf(log: AttemptLog, { stream: only, search }: { stream?: LogStream; search?: string }) {
    const partial = partials.of(log).filter(({ stream }) => !only || stream === only);
    return partial.length > 0 && search === undefined ? { partial } : {};
  }

  routes.add(contract.tailLogs, async ({ params, query: { attempt: wanted, tail = 200, ...query } }) => {
    const { job_id, attempt } = await requireAttempt(params.job_id, wanted);
    const found = await store.with(job_id, attempt, async (log) => ({
      ...(await log.tail({ ...query, tail })),
      dropped: log.state.dropped,
      ...partialOf(log, query),
    }));
    return ok({ job_id, attempt, ...found });
  });
  routes.add(contract.streamLogs, async ({ params, query: { attempt: wanted, tail = 200, ...query } }) => {
    const { job_id, attempt } = await requireAttempt(params.job_id, wanted);
    return sse((stream) =>
      store.with(job_id, attempt, (log) =>
        followLog(ctx, jobs, { log, partials }, { ...query, tail }, stream),
      ),
    );
  });
  routes.add(contract.downloadLogs, async ({ params, query: { attempt: wanted, ...query } }) => {
    const format = FORMATS[query.format ?? 'text'];
    const { job_id, attempt } = await requireAttempt(params.job_id, wanted);
    const batches = await store.with(job_id, attempt, (log) => Promise.resolve(log.batches()));
    return download({
      filename: `${job_id}-attempt-${attempt}.${format.extension}`,
      contentType: format.contentType,
      body: Readable.from(format.write(batches, query), { objectMode: false }),
    });
  });
}

interface Selection {
  readonly stream?: LogStream;
  /** In ms since the epoch. */
  readonly since?: number;
  readonly timestamps?: boolean;
}

async function* select(
  batches: AsyncIterable<LogRecord>,
  { stream: only, since = 0 }: Selection,
): AsyncGenerator<LogRecord> {
  for await (const batch of batches)
    if (batch.lines.length > 0 && batch.ts >= since && (!only || batch.stream === only)) yield batch;
}

async function* toText(batches: AsyncIterable<LogRecord>, selection: Selection): AsyncGenerator<string> {
  for await (const { lines, ts } of select(batches, selection)) {
    const time = selection.timestamps ? `${new Date(ts).toISOString()} ` : '';
    yield `${time}${lines.join(`\n${time}`)}\n`;
  }
}

async function* toJsonLines(batches: AsyncIterable<LogRecord>, selection: Selection): AsyncGenerator<string> {
  for await (const batch of select(batches, selection))
    yield linesOf(batch)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
}

const FORMATS = {
  text: { extension: 'log', contentType: 'text/plain; charset=utf-8', write: toText },
  jsonl: { extension: 'jsonl', contentType: 'application/x-ndjson; charset=utf-8', write: toJsonLines },
};
