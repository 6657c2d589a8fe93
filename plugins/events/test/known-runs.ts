import type { Run } from '@svc/contract';
import { definePlugin, fail, requireId, serviceRef, type Plugin } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';

type KnownRun = Pick<Run, 'id' | 'job_id' | 'attempt'>;

/** The part of the runs service that events ask, over a fixed list: the plugin itself requires this one. */
export function knownRuns(runs: readonly KnownRun[]): Plugin {
  const requireIngest: Runs['requireIngest'] = ({ scope, ingest }, id) => {
    const run =
      runs.find((known) => known.id === requireId('run', id)) ?? fail('not_found', `no run "${id}"`);
    const mayWrite =
      ingest === null
        ? scope === 'sdk' || scope === 'write'
        : 'run_id' in ingest
          ? ingest.run_id === run.id
          : ingest.job_id === run.job_id && ingest.attempt === run.attempt;
    return Promise.resolve(mayWrite ? (run as Run) : fail('forbidden', 'this token is for another run'));
  };
  return definePlugin({
    name: 'runs',
    requires: ['events'],
    setup: (ctx) => ctx.provide(serviceRef<Pick<Runs, 'requireIngest'>>('runs'), { requireIngest }),
  })();
}
