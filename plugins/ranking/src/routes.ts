import { routes as contract } from '@svc/contract';
import { failValidation, ok, type RouteCollector } from '@svc/kernel';
import { describeBest, findBestCheckpoint } from './best-checkpoint.js';
import { compareCheckpoints } from './compare-checkpoints.js';
import { compareRuns } from './compare-runs.js';
import type { Parts } from './parts.js';
import { inOrder, parseIds, toQuestion } from './question.js';
import { toScope, type Scope } from './scope.js';

export function addRoutes(routes: RouteCollector, parts: Parts): void {
  const { ctx, runs, checkpoints, projects } = parts;

  async function experimentScope(given: string): Promise<Scope> {
    const { id: experiment_id, project_id } = await projects.requireExperiment(ctx.db, given);
    const runIds = await runs.idsOfExperiment(ctx.db, experiment_id);
    return { runIds, placement: { project_id, experiment_id } };
  }

  async function recommendScope(runId: string | undefined, experimentId: string | undefined): Promise<Scope> {
    if (runId === undefined) {
      if (experimentId !== undefined) return experimentScope(experimentId);
      const message = 'name a run (run_id=) or an experiment (experiment_id=)';
      return failValidation({ path: 'run_id', message });
    }
    const run = await runs.require(ctx.db, runId);
    if (experimentId === undefined) return toScope([run]);
    const { id } = await projects.requireExperiment(ctx.db, experimentId);
    if (run.experiment_id === id) return toScope([run]);
    const message = `run ${run.id} does not belong to experiment ${id}; leave one of them out`;
    return failValidation({ path: 'experiment_id', message });
  }

  routes.add(contract.recommendCheckpoint, async ({ query: { run_id, experiment_id, ...asked } }) => {
    const question = toQuestion(asked);
    const scope = await recommendScope(run_id, experiment_id);
    return ok(await describeBest(parts, await findBestCheckpoint(parts, scope, question), question));
  });
  routes.add(contract.bestCheckpoint, async ({ params, query }) => {
    const question = toQuestion(query);
    const scope = await experimentScope(params.experiment_id);
    return ok(await describeBest(parts, await findBestCheckpoint(parts, scope, question), question));
  });
  routes.add(contract.compareRuns, async ({ query: { ids: list, ...asked } }) => {
    const ids = parseIds('run', list);
    const found = inOrder('run', ids, await runs.find(ctx.db, ids));
    return ok(await compareRuns(parts, found, toQuestion(asked)));
  });
  routes.add(contract.compareCheckpoints, async ({ query: { ids: list, ...asked } }) => {
    const ids = parseIds('checkpoint', list);
    const found = inOrder('checkpoint', ids, await checkpoints.find(ctx.db, ids));
    const runIds = [...new Set(found.map(({ run_id }) => run_id))];
    const owners = inOrder('run', runIds, await runs.find(ctx.db, runIds));
    return ok(await compareCheckpoints(parts, found, owners, toQuestion(asked)));
  });
}
