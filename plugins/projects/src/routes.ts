import { routes as contract } from '@svc/contract';
import { created, ok, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { ProjectCatalog } from './projects.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, catalog: ProjectCatalog): void {
  const now = () => ctx.clock.now();

  routes.add(contract.listProjects, async ({ query }) =>
    ok({ items: await catalog.listProjects(ctx.db, query.limit ?? 100) }),
  );
  routes.add(contract.createProject, async ({ body: { name, description = '' } }) =>
    created(await catalog.createProject(ctx.db, { name, description }, now())),
  );
  routes.add(contract.getProject, async ({ params }) =>
    ok(await catalog.requireProject(ctx.db, params.project_id)),
  );
  routes.add(contract.updateProject, async ({ params, body }) =>
    ok(await catalog.updateProject(ctx.db, params.project_id, body)),
  );
  routes.add(contract.deleteProject, async ({ params }) =>
    ok(await catalog.deleteProject(ctx.db, params.project_id)),
  );

  routes.add(contract.listExperiments, async ({ query }) =>
    ok({ items: await catalog.listExperiments(ctx.db, query.project_id ?? null, query.limit ?? 100) }),
  );
  routes.add(contract.createExperiment, async ({ body: { name, description = '', project_id = null } }) =>
    created(await catalog.createExperiment(ctx.db, { name, description, project_id }, now())),
  );
  routes.add(contract.getExperiment, async ({ params }) =>
    ok(await catalog.requireExperiment(ctx.db, params.experiment_id)),
  );
  routes.add(contract.updateExperiment, async ({ params, body }) =>
    ok(await catalog.updateExperiment(ctx.db, params.experiment_id, body)),
  );
  routes.add(contract.deleteExperiment, async ({ params }) =>
    ok(await catalog.deleteExperiment(ctx.db, params.experiment_id)),
  );
}
