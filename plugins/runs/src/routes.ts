import { routes as contract } from '@svc/contract';
import {
  created,
  fail,
  idOf,
  ok,
  parseIdempotencyKey,
  toPage,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import type { RunOperations } from './run-operations.js';
import type { RunParts } from './run-parts.js';
import { listRuns } from './run-store.js';

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
  routes.add(
    contract.listRuns,
    async ({ query: { experiment_id, project_id, job_id, limit, before, ...rest } }) => {
      const filter = {
        ...rest,
        experiment_id: await idOf(experiment_id, (id) => parts.projects.requireExperiment(ctx.db, id)),
        project_id: await idOf(project_id, (id) => parts.projects.requireProject(ctx.db, id)),
        job_id: await idOf(job_id, (id) => parts.jobs.require(ctx.db, id)),
      };
      return ok(await listRuns(ctx.db, filter, toPage('run', { limit, before })));
    },
  );
  routes.add(contract.listExperimentRuns, async ({ params, query }) => {
    const { id } = await parts.projects.requireExperiment(ctx.db, params.experiment_id);
    return ok(await listRuns(ctx.db, { experiment_id: id }, toPage('run', query)));
  });
  routes.add(contract.listJobRuns, async ({ params, query }) => {
    const { id } = await parts.jobs.require(ctx.db, params.job_id);
    return ok(await listRuns(ctx.db, { job_id: id }, toPage('run', query)));
  });
}
