import { routes as contract } from '@svc/contract';
import { created, ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import type { Checkpoints } from './service.js';
import { listCheckpoints, requireCheckpoint } from './store.js';

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
    return isNew ? created(checkpoint) : ok(checkpoint);
  });
  routes.add(contract.listRunCheckpoints, async ({ params, query }) => {
    const { id } = await runs.require(ctx.db, params.run_id);
    return ok(await listCheckpoints(ctx.db, id, toPage('checkpoint', query)));
  });
  routes.add(contract.getCheckpoint, async ({ params }) =>
    ok(await requireCheckpoint(ctx.db, params.ckpt_id)),
  );
}
