import { definePlugin } from '@svc/kernel';
import { projectsRef } from '@svc/plugin-projects';
import { runsRef } from '@svc/plugin-runs';
import { MetricCatalog } from './catalog.js';
import { metricDefinitionsMigrations } from './migrations.js';
import { addRoutes } from './routes.js';
import { metricDefinitionsRef } from './service.js';

export * from './service.js';

export const metricDefinitions = definePlugin({
  name: 'metric-definitions',
  requires: ['projects', 'runs'],
  setup(ctx) {
    const runs = ctx.use(runsRef);
    const catalog = new MetricCatalog(ctx.use(projectsRef), runs);
    ctx.migrations(metricDefinitionsMigrations);
    ctx.owns(
      { table: 'metric_levels', of: { project_id: 'project', experiment_id: 'experiment', run_id: 'run' } },
      { table: 'metric_definitions', key: ['level_id', 'name'], of: { level_id: 'metric_levels' } },
    );
    ctx.provide(metricDefinitionsRef, catalog);
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, catalog, runs));
  },
});
