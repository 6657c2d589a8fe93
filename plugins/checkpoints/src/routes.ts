import { routes as contract } from '@svc/contract';
import { created, idOf, ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Projects } from '@svc/plugin-projects';
import type { Runs } from '@svc/plugin-runs';
import type { Checkpoints } from './service.js';
import { listOfRuns, listShown, withResults } from './shown.js';

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  { projects, runs }: { readonly projects: Projects; readonly runs: Runs },
  checkpoints: Checkpoints,
): void {
  routes.add(contract.createCheckpoint, async ({ params, body, caller }) => {
    const run = await runs.requireIngest(caller, params.run_id);
    const source = caller.ingest === null ? 'api' : 'sdk';
    const { checkpoint, isNew } = await checkpoints.register(run, body, source);
    if (isNew) return created(checkpoint);
    // A token that may only write does not see what other jobs have found.
    return ok(caller.scope === 'write' ? await withResults(ctx, checkpoint) : checkpoint);
  });
  routes.add(contract.listRunCheckpoints, async ({ params, query }) => {
    const run = await runs.require(ctx.db, params.run_id);
    return ok(await listShown(ctx, runs, run, toPage('checkpoint', query)));
  });
  routes.add(contract.listCheckpoints, async ({ query }) => {
    const filter = {
      run_id: await idOf(query.run_id, (id) => runs.require(ctx.db, id)),
      experiment_id: await idOf(query.experiment_id, (id) => projects.requireExperiment(ctx.db, id)),
      project_id: await idOf(query.project_id, (id) => projects.requireProject(ctx.db, id)),
      q: query.q,
    };
    return ok(await listOfRuns(ctx, runs, filter, toPage('checkpoint', query)));
  });
  routes.add(contract.getCheckpoint, async ({ params }) => ok(await checkpoints.show(params.ckpt_id)));
}
