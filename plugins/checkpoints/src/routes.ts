import { routes as contract } from '@svc/contract';
import { created, ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import type { Checkpoints } from './service.js';
import { listOfAllRuns, listShown, withResults } from './shown.js';

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  runs: Runs,
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
    return ok(await listShown(ctx, run, toPage('checkpoint', query)));
  });
  routes.add(contract.listCheckpoints, async ({ query }) =>
    ok(await listOfAllRuns(ctx, toPage('checkpoint', query))),
  );
  routes.add(contract.getCheckpoint, async ({ params }) => ok(await checkpoints.show(params.ckpt_id)));
}
