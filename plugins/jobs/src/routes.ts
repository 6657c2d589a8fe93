import { routes as contract } from '@svc/contract';
import {
  created,
  idOf,
  ok,
  parseIdempotencyKey,
  requireId,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import type { Nodes } from '@svc/plugin-nodes';
import type { Projects } from '@svc/plugin-projects';
import type { Canceller } from './cancel.js';
import { hideEnv } from './hide-env.js';
import { listJobAttempts, listJobs, requireJob } from './job-store.js';
import type { Retrier } from './retry.js';
import type { Submitter } from './submit.js';

interface Parts {
  readonly submitter: Submitter;
  readonly canceller: Canceller;
  readonly killGraceMs: number;
  readonly retrier: Retrier;
  readonly projects: Projects;
  readonly nodes: Nodes;
}

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  { submitter, canceller, killGraceMs, retrier, projects, nodes }: Parts,
): void {
  routes.add(contract.submitJob, async ({ body, caller, headers }) => {
    const key = parseIdempotencyKey(headers);
    const idempotency = key === null ? null : { caller, route: contract.submitJob.id, key, body };
    const { job, isRepeated } = await submitter.submit({ body, caller, idempotency });
    return isRepeated ? ok(hideEnv(job, caller)) : created(hideEnv(job, caller));
  });

  routes.add(
    contract.listJobs,
    async ({ query: { project_id, experiment_id, node_id, limit = 100, ...query }, caller }) => {
      const page = await listJobs(ctx.db, {
        ...query,
        project_id: await idOf(project_id, (id) => projects.requireProject(ctx.db, id)),
        experiment_id: await idOf(experiment_id, (id) => projects.requireExperiment(ctx.db, id)),
        node_id: await idOf(node_id, (id) => nodes.require(ctx.db, id)),
        limit,
      });
      return ok({ ...page, items: page.items.map((job) => hideEnv(job, caller)) });
    },
  );

  routes.add(contract.listRunners, async () => {
    const runners = [...ctx.registered.runners.values()];
    return ok({
      items: runners.map(({ name, placement, optionsSchema }) => ({
        name,
        placement,
        options_schema: optionsSchema,
      })),
    });
  });

  routes.add(contract.getJob, async ({ params, caller }) =>
    ok(hideEnv(await requireJob(ctx.db, params.job_id), caller)),
  );

  routes.add(contract.listJobAttempts, async ({ params, query }) => {
    const { id } = await requireJob(ctx.db, params.job_id);
    return ok({ items: await listJobAttempts(ctx.db, id, query) });
  });

  routes.add(contract.cancelJob, async ({ params }) => {
    const jobId = requireId('job', params.job_id);
    const result = await canceller.cancel(jobId);
    const kill_grace_s = result === 'CANCELLED' ? null : killGraceMs / 1000;
    return ok({ job_id: jobId, result, kill_grace_s });
  });

  routes.add(contract.retryJob, async ({ params, caller }) =>
    ok(hideEnv(await retrier.retry(requireId('job', params.job_id)), caller)),
  );
}
