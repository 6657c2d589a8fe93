import { routes as contract, type Run, type RunSummary } from '@svc/contract';
import { ok, sse, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { Runs } from '@svc/plugin-runs';
import type { LivePoints } from './live-points.js';
import type { PointStore } from './point-store.js';
import type { PointsWrite, PointsWritten } from './point-writer.js';
import { readRun, readRuns } from './run-reader.js';

export interface MetricParts {
  readonly runs: Runs;
  readonly jobs: Jobs;
  readonly store: PointStore;
  readonly live: LivePoints;
  write(batch: PointsWrite): Promise<PointsWritten>;
  summary(run: Run): Promise<RunSummary>;
}

export function addRoutes(routes: RouteCollector, ctx: PluginContext, parts: MetricParts): void {
  const { runs, store, live } = parts;
  const require = (id: string) => runs.require(ctx.db, id);

  routes.add(contract.writePoints, async ({ params, body, caller }) => {
    const { id } = await runs.requireTarget(caller, params.run_id);
    const { accepted, duplicates } = await parts.write({
      run_id: id,
      points: body.points,
      at: ctx.clock.now(),
    });
    return ok({ accepted: accepted.length, duplicates });
  });
  routes.add(contract.readSeries, async ({ params, query: { names, window_s, limit = 1000, ...range } }) => {
    const { id } = await require(params.run_id);
    const ts_from = window_s === undefined ? undefined : ctx.clock.now() - window_s * 1000;
    const query = { ...range, names: names === undefined ? undefined : toNames(names), ts_from, limit };
    return ok({ run_id: id, series: await readRun(store, id, query) });
  });
  routes.add(contract.queryMetrics, async ({ body: { run_ids, limit = 1000, ...query } }) => {
    const ids: string[] = [];
    for (const id of run_ids) ids.push((await require(id)).id);
    return ok({ series: await readRuns(store, [...new Set(ids)], { ...query, limit }) });
  });
  routes.add(contract.streamPoints, async ({ params, query: { names } }) => {
    const run = await require(params.run_id);
    return sse(async (stream) => {
      live.follow(run, names === undefined ? null : new Set(toNames(names)), stream);
      // The run is read again, as it may have ended before the follower was registered.
      if (await isOver(ctx, parts, await require(run.id))) await live.end(run.id);
    });
  });
  routes.add(contract.getRunSummary, async ({ params }) => {
    const run = await require(params.run_id);
    return ok(await parts.summary(run));
  });
}

/** Names with NUL are left out: no metric has one, and PostgreSQL rejects such a query. */
function toNames(names: string): string[] {
  return names.split(',').filter((name) => name !== '' && !name.includes('\0'));
}

/** A LOST run may be found running again; a run of a job only until the job has another attempt. */
async function isOver({ db }: PluginContext, { jobs }: MetricParts, run: Run): Promise<boolean> {
  if (run.status === 'RUNNING') return false;
  if (run.status !== 'LOST') return true;
  if (run.job_id === null) return false;
  const job = await jobs.get(db, run.job_id);
  return job?.attempt !== run.attempt;
}
