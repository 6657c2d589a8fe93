import { definePlugin, fail, namesById, requireId, type Db } from '@svc/kernel';
import { authRef } from '@svc/plugin-auth';
import { eventsRef, findSubject, nameSubjects } from '@svc/plugin-events';
import { attemptPrepare, jobTransition, jobsRef } from '@svc/plugin-jobs';
import { countUsage, moveExperiment, projectsRef } from '@svc/plugin-projects';
import { findAssigned } from './assigned-runs.js';
import { syncRunsWithJob } from './attempt-runs.js';
import { readMetricValues, runChanged, runDeleted } from './hooks.js';
import { giveUpRun } from './give-up-run.js';
import { IngestTargetCache } from './ingest-target-cache.js';
import { Liveness } from './liveness.js';
import { runsMigrations } from './migrations.js';
import { runsOptions } from './options.js';
import { addRoutes } from './routes.js';
import { RunOperations } from './run-operations.js';
import type { RunParts } from './run-parts.js';
import { haveTag } from './run-search.js';
import { matchingRuns } from './run-list.js';
import {
  countRuns,
  findRun,
  findRuns,
  holdRuns,
  idsOfExperiment,
  markDeleted,
  moveExperimentRuns,
  raiseProgress,
  runsOfJob,
} from './run-store.js';
import { runsRef } from './service.js';

export * from './hooks.js';
export * from './service.js';

export const runs = definePlugin({
  name: 'runs',
  requires: ['auth', 'projects', 'events', 'jobs'],
  options: runsOptions,
  setup(ctx, { run_lost_after_s }) {
    const parts: RunParts = {
      auth: ctx.use(authRef),
      events: ctx.use(eventsRef),
      jobs: ctx.use(jobsRef),
      projects: ctx.use(projectsRef),
      changed: (tx, change) => tx.afterCommit(() => ctx.fire(runChanged, change)),
    };
    const liveness = new Liveness(ctx, parts, run_lost_after_s * 1000);
    const operations = new RunOperations(ctx, parts, liveness);
    const targets = new IngestTargetCache(parts.auth, (caller, id) => operations.requireTarget(caller, id));
    ctx.migrations(runsMigrations);
    ctx.owns(
      { table: 'runs', kind: 'run', of: { job_id: 'job' } },
      { table: 'assigned_runs', key: ['run_id'], of: { job_id: 'job', run_id: 'run' } },
      { table: 'run_documents', key: ['run_id'], of: { run_id: 'run' } },
      { table: 'run_tags', key: ['run_id', 'tag'], of: { run_id: 'run' } },
    );
    ctx.declare(runChanged);
    ctx.declare(runDeleted);
    ctx.declare(readMetricValues);
    ctx.tap(countUsage, async ({ db, level, ids, noun = 'runs' }) =>
      noun === 'runs' ? { noun, counts: await countRuns(db, level, ids) } : undefined,
    );
    ctx.tap(moveExperiment, moveExperimentRuns);
    ctx.tap(findSubject, async (db, kind, id) =>
      kind === 'run' ? (await requireRun(db, id)).id : undefined,
    );
    ctx.tap(nameSubjects, (db, ids) => namesById(db, 'runs', ids));
    ctx.tap(attemptPrepare, (plan) => operations.prepare(plan));
    ctx.tap(jobTransition, (transition) => syncRunsWithJob(parts, transition));
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, operations, parts));
    ctx.listening(() => liveness.start());
    ctx.provide(runsRef, {
      async givenTo(db, destination) {
        const given = await findAssigned(db, destination);
        return given ? findRun(db, given.run_id) : null;
      },
      require: requireRun,
      requireIngest: (caller, id) => operations.requireIngest(caller, id),
      async requireTarget(caller, id) {
        const target = await targets.require(caller, id);
        await liveness.note(target);
        return target;
      },
      nodeOf: async (db, run_id) => (await findAssigned(db, { run_id }))?.node_id ?? null,
      ofJob: runsOfJob,
      find: findRuns,
      idsOfExperiment,
      query: (db) => db('runs').whereNull('job_id').select('id', 'name', 'status', 'finished_at'),
      matching: matchingRuns,
      haveTag,
      update: (caller, id, fields) => operations.update(caller, id, fields),
      finish: (caller, id, end) => operations.finish(caller, id, end),
      hold: holdRuns,
      markDeleted: (db, ids) => markDeleted(db, ids, ctx.clock.now()),
      async giveUp(tx, id) {
        const run = await giveUpRun(parts, tx, requireId('run', id), ctx.clock.now());
        tx.afterCommit(() => ctx.fire(runDeleted, run));
        return run;
      },
      touchProgress: raiseProgress,
    });
  },
});

async function requireRun(db: Db, id: string) {
  return (await findRun(db, requireId('run', id))) ?? fail('not_found', `no run "${id}"`);
}
