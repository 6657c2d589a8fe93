import { RUN_FIELDS, routes as contract, toRunSort } from '@svc/contract';
import {
  created,
  fail,
  failValidation,
  idOf,
  ok,
  parseIdempotencyKey,
  toPage,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import { readMetricValues } from './hooks.js';
import type { RunOperations } from './run-operations.js';
import type { RunParts } from './run-parts.js';
import { keysOf, type KeySource } from './run-keys.js';
import { countMatching, listRuns, listSorted, type Order } from './run-list.js';

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  operations: RunOperations,
  parts: RunParts,
): void {
  routes.add(contract.createRun, async ({ body, caller }) => {
    const { run, ingest_token, isNew } = await operations.create(caller, body);
    const answer = { ...run, ingest_token };
    return isNew ? created(answer) : ok(answer);
  });
  routes.add(contract.finishRun, async ({ params, body, caller }) =>
    ok(await operations.finish(caller, params.run_id, body)),
  );
  routes.add(contract.keepRunAlive, async ({ params, caller }) => {
    const { id } = await operations.requireIngest(caller, params.run_id);
    const { status } = await operations.require(id);
    return ok({ status });
  });
  routes.add(contract.updateRun, async ({ params, body, caller }) =>
    ok(await operations.update(caller, params.run_id, body)),
  );
  routes.add(contract.createEvent, async ({ params, body, caller, headers }) => {
    const key = parseIdempotencyKey(headers);
    const run = await operations.requireIngest(caller, params.run_id);
    const { event, isNew, isSame } = await parts.events.report(run, { body, key });
    if (!isSame)
      fail('conflict', 'this Idempotency-Key was used with another body; take a new key for a new event');
    return isNew ? created(event) : ok(event);
  });
  routes.add(contract.getRun, async ({ params }) => ok(await operations.require(params.run_id)));
  routes.add(contract.listRuns, async ({ query }) => {
    const { experiment_id, project_id, job_id, limit, before, sort, total, ...rest } = query;
    const { db } = ctx;
    const experiment =
      experiment_id === undefined ? null : await parts.projects.requireExperiment(db, experiment_id);
    const filter = {
      ...rest,
      experiment_id: experiment?.id,
      project_id: await idOf(project_id, (id) => parts.projects.requireProject(db, id)),
      job_id: await idOf(job_id, (id) => parts.jobs.require(db, id)),
    };
    const page = toPage('run', { limit, before });
    if (sort !== undefined) {
      const placement = {
        project_id: experiment?.project_id ?? filter.project_id ?? null,
        experiment_id: experiment?.id ?? null,
      };
      return ok(await listSorted(db, filter, toOrder(sort, placement), page));
    }
    const list = await listRuns(db, filter, page);
    return ok(total ? { ...list, total: await countMatching(db, filter) } : list);
  });
  routes.add(contract.listExperimentRuns, async ({ params, query }) => {
    const { id } = await parts.projects.requireExperiment(ctx.db, params.experiment_id);
    return ok(await listRuns(ctx.db, { experiment_id: id }, toPage('run', query)));
  });
  routes.add(contract.listJobRuns, async ({ params, query }) => {
    const { id } = await parts.jobs.require(ctx.db, params.job_id);
    return ok(await listRuns(ctx.db, { job_id: id }, toPage('run', query)));
  });

  function toOrder(sort: string, placement: KeySource['placement']): Order {
    const { by, isDescending } = toRunSort(sort) ?? failValidation({ path: 'sort', message: SORT_HELP });
    const { db } = ctx;
    const keys = keysOf(by, {
      db,
      now: ctx.clock.now(),
      placement,
      names: (level, ids) => parts.projects.names(db, level, ids),
      metricValues: (asked) => ctx.fire(readMetricValues, db, asked),
    });
    return { keys, isDescending };
  }
}

const SORT_HELP = `must be one of ${RUN_FIELDS.join(', ')}, config:KEY, last:METRIC or best:METRIC, with "-" before it for the highest first`;
