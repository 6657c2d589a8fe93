import { definePlugin } from '@svc/kernel';
import { countUsage, moveExperiment } from './hooks.js';
import { projectsMigrations } from './migrations.js';
import { ProjectCatalog } from './projects.js';
import { addRoutes } from './routes.js';
import { projectsRef } from './service.js';

export * from './hooks.js';
export * from './service.js';
export { projectsMigrations } from './migrations.js';

export const projects = definePlugin({
  name: 'projects',
  setup(ctx) {
    const catalog = new ProjectCatalog(ctx);
    ctx.declare(countUsage);
    ctx.declare(moveExperiment);
    ctx.migrations(projectsMigrations);
    ctx.owns({ table: 'projects', kind: 'project' }, { table: 'experiments', kind: 'experiment' });
    ctx.provide(projectsRef, catalog);
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, catalog));
  },
});
