import { routes as contract } from '@svc/contract';
import { created, ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { ProjectCatalog } from './projects.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, catalog: ProjectCatalog): void {
  const now = () => ctx.clock.now();

  routes.add(contract.listProjects, async ({ query }) =>
    ok(await catalog.listProjects(ctx.db, toPage('project', query))),
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
    ok(await catalog.listExperiments(ctx.db, query.project_id ?? null, toPage('experiment', query))),
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
