import { MetricName, routes as contract } from '@svc/contract';
import {
  compileCheck,
  created,
  failValidation,
  ok,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import type { MetricCatalog } from './catalog.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, catalog: MetricCatalog): void {
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

const checkName = compileCheck(MetricName);

/** As points have it. Half a character would be stored as another one, perhaps as the name of another metric. */
function requireName(name: string): string {
  const issues = checkName(name).map(({ message }) => ({ path: 'name', message }));
  if (issues.length > 0) failValidation(...issues);
  if (/\p{Surrogate}/u.test(name)) failValidation({ path: 'name', message: 'is no valid Unicode' });
  return name;
}
