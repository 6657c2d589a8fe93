import type { SemanticRule } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { jobChanged, jobsRef } from '@svc/plugin-jobs';
import { linesAppended, logsRef } from '@svc/plugin-logs';
import { metricsRef } from '@svc/plugin-metrics';
import { runsRef } from '@svc/plugin-runs';
import { concludeAll, toNextActions } from './conclude.js';
import { ErrorIndex } from './error-index/error-index.js';
import { Explainer } from './explainer.js';
import { failuresMigrations } from './migrations.js';
import { actionsFor } from './next-actions.js';
import { addRoutes } from './routes.js';
import { FAILURE_RULES, RUN_RULES } from './rules/index.js';
import { failuresRef } from './service.js';

export * from './service.js';

/** Why attempts and runs failed: rules over log, events, metrics and the end of the process. */
export const failures = definePlugin({
  name: 'failures',
  requires: ['events', 'jobs', 'logs', 'runs', 'metrics'],
  setup(ctx) {
    const index = new ErrorIndex(ctx, ctx.use(logsRef));
    const sources = {
      ctx,
      index,
      jobs: ctx.use(jobsRef),
      runs: ctx.use(runsRef),
      events: ctx.use(eventsRef),
      metrics: ctx.use(metricsRef),
    };
    const explainer = new Explainer(sources);
    ctx.migrations(failuresMigrations);
    ctx.owns({ table: 'failure_logs', key: ['job_id', 'attempt'], of: { job_id: 'job' } });
    ctx.hooks.semanticRules.tap(ctx.name, (rules) => {
      for (const rule of [...FAILURE_RULES, ...RUN_RULES]) rules.add(rule as SemanticRule);
    });
    ctx.tap(linesAppended, (batch) => index.add(batch));
    ctx.tap(jobChanged, ({ before, after }) => {
      if (before && before.finished_at === null && after.finished_at !== null)
        index.attemptOver({ job_id: before.id, attempt: before.attempt });
    });
    ctx.provide(failuresRef, {
      async lastErrors(key, count) {
        return (await index.read(key)).errors.slice(-count);
      },
      explain: (run) => explainer.ofRun(run),
      conclude(evidence) {
        const concluded = concludeAll('run', evidence, explainer.rules, ctx.log);
        return {
          causes: concluded.map(({ cause }) => cause),
          next_actions: concluded.flatMap(({ cause, next_actions }) =>
            toNextActions(next_actions, cause.rule, ctx.log),
          ),
        };
      },
      resubmit: (job, attempt, fix) =>
        toNextActions(actionsFor('change', { job, attempt, hasLog: false, fix }), undefined, ctx.log),
    });
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, sources, explainer));
    ctx.ready(() => ctx.onClose(index.start()));
  },
});
