import { routes as contract } from '@svc/contract';
import { created, ok, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import type { MetricCatalog } from './catalog.js';
import { requireName } from './metric-name.js';

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  catalog: MetricCatalog,
  runs: Runs,
): void {
  const now = () => ctx.clock.now();

  routes.add(contract.listMetricDefinitions, async ({ query: { limit = 200, ...level } }) =>
    ok({ items: await catalog.list(ctx.db, level, limit) }),
  );
  routes.add(
    contract.putMetricDefinition,
    async ({ params, body: { project_id, experiment_id, ...change } }) => {
      const name = requireName(params.name);
      const { definition, isNew } = await catalog.put(
        ctx.db,
        { project_id, experiment_id },
        name,
        change,
        now(),
      );
      return isNew ? created(definition) : ok(definition);
    },
  );
  routes.add(contract.defineRunMetric, async ({ params, body, caller }) => {
    const run = await runs.requireIngest(caller, params.run_id);
    const { definition, isNew } = await catalog.define(ctx.db, run, params.name, body, now());
    return isNew ? created(definition) : ok(definition);
  });
  routes.add(
    contract.updateMetricDefinition,
    async ({ params, body: { project_id, experiment_id, ...change } }) =>
      ok(
        await catalog.update(ctx.db, { project_id, experiment_id }, requireName(params.name), change, now()),
      ),
  );
  routes.add(contract.setPrimaryMetric, async ({ body: { name, ...level } }) =>
    ok(await catalog.setPrimary(ctx.db, level, requireName(name), now())),
  );
}
