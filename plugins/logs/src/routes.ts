import { routes as contract, type AttemptKey, type LogStream } from '@svc/contract';
import { download, fail, ok, sse, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import { Readable } from 'node:stream';
import { followLog } from './follow.js';
import type { LogRecord } from './log-record.js';
import type { LogStore } from './log-store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, store: LogStore, jobs: Jobs): void {
  /** The attempt asked for, else the job's present one. */
  async function requireAttempt(jobId: string, wanted: number | undefined): Promise<AttemptKey> {
    const job = await jobs.require(ctx.db, jobId);
    const attempt = wanted ?? job.attempt;
    if (attempt > job.attempt)
      fail('not_found', `job ${job.id} has no attempt ${attempt}; its last is ${job.attempt}`);
    return { job_id: job.id, attempt };
  }

  routes.add(contract.tailLogs, async ({ params, query: { attempt: wanted, tail = 200, ...query } }) => {
    const { job_id, attempt } = await requireAttempt(params.job_id, wanted);
    const found = await store.with(job_id, attempt, async (log) => ({
      ...(await log.tail({ ...query, tail })),
      dropped: log.state.dropped,
    }));
    return ok({ job_id, attempt, ...found });
  });
  routes.add(
    contract.streamLogs,
    async ({ params, query: { attempt: wanted, tail = 200, stream: only } }) => {
      const { job_id, attempt } = await requireAttempt(params.job_id, wanted);
      return sse((stream) =>
        store.with(job_id, attempt, (log) => followLog(ctx, jobs, log, { stream: only, tail }, stream)),
      );
    },
  );
  routes.add(contract.downloadLogs, async ({ params, query: { attempt: wanted, stream: only } }) => {
    const { job_id, attempt } = await requireAttempt(params.job_id, wanted);
    const batches = await store.with(job_id, attempt, (log) => Promise.resolve(log.batches()));
    return download({
      filename: `${job_id}-attempt-${attempt}.log`,
      contentType: 'text/plain; charset=utf-8',
      body: Readable.from(toText(batches, only), { objectMode: false }),
    });
  });
}

async function* toText(
  batches: AsyncIterable<LogRecord>,
  only: LogStream | undefined,
): AsyncGenerator<string> {
  for await (const { stream, lines } of batches) {
    if (lines.length > 0 && (!only || stream === only)) yield `${lines.join('\n')}\n`;
  }
}
