import { routes as contract } from '@svc/contract';
import {
  created,
  idOf,
  ok,
  parseIdempotencyKey,
  toPage,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import { createEvaluation, type CreateParts } from './create.js';
import { listEvaluations, requireEvaluation } from './store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, parts: CreateParts): void {
  const { checkpoints, runs } = parts;
  routes.add(contract.createEvaluation, async ({ params, body, caller, headers }) => {
    const { id: checkpointId } = await checkpoints.require(ctx.db, params.ckpt_id);
    const key = parseIdempotencyKey(headers);
    const route = contract.createEvaluation.id;
    const idempotency = key === null ? null : { caller, route, key, body: { checkpointId, ...body } };
    const creation = { checkpointId, body, caller, idempotency };
    const { evaluation, isRepeated } = await createEvaluation(ctx, parts, creation);
    return isRepeated ? ok(evaluation) : created(evaluation);
  });
  routes.add(contract.listCheckpointEvaluations, async ({ params, query }) => {
    const { id: checkpoint_id } = await checkpoints.require(ctx.db, params.ckpt_id);
    return ok(await listEvaluations(ctx.db, { checkpoint_id }, toPage('evaluation', query)));
  });
  routes.add(contract.listEvaluations, async ({ query }) => {
    const filter = {
      status: query.status,
      suite: query.suite,
      q: query.q,
      run_id: await idOf(query.run_id, (id) => runs.require(ctx.db, id)),
      checkpoint_id: await idOf(query.checkpoint_id, (id) => checkpoints.require(ctx.db, id)),
    };
    return ok(await listEvaluations(ctx.db, filter, toPage('evaluation', query)));
  });
  routes.add(contract.getEvaluation, async ({ params }) =>
    ok(await requireEvaluation(ctx.db, params.eval_id)),
  );
}
