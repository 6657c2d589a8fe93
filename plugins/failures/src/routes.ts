import { routes as contract } from '@svc/contract';
import { ok, type RouteCollector } from '@svc/kernel';
import type { Explainer, Sources } from './explainer.js';

export function addRoutes(routes: RouteCollector, { ctx, jobs, runs }: Sources, explainer: Explainer): void {
  routes.add(contract.explainJobFailure, async ({ params, query }) => {
    const job = await jobs.require(ctx.db, params.job_id);
    return ok(await explainer.ofJob(job, query.attempt ?? job.attempt));
  });
  routes.add(contract.explainRunFailure, async ({ params, query }) =>
    ok(await explainer.ofRun(await runs.require(ctx.db, params.run_id), query.attempt)),
  );
}
