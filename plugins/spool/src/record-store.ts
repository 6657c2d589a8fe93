import type { Run, SpoolRecord } from '@svc/contract';
import type { Caller, Clock } from '@svc/kernel';
import type { Checkpoints } from '@svc/plugin-checkpoints';
import type { Events } from '@svc/plugin-events';
import type { Metrics } from '@svc/plugin-metrics';
import type { Runs } from '@svc/plugin-runs';

interface Stores {
  readonly runs: Runs;
  readonly metrics: Metrics;
  readonly checkpoints: Checkpoints;
  readonly events: Events;
}

/** Stores spooled records as the corresponding API requests would. */
export class RecordStore {
  constructor(
    private readonly ctx: { readonly clock: Clock },
    private readonly stores: Stores,
  ) {}

  /** Resolves after the commit. `run` is the run of the record. Throws the errors of the corresponding request. */
  async store(record: SpoolRecord, run: Run, caller: Caller): Promise<void> {
    const { runs, metrics, checkpoints, events } = this.stores;
    const now = this.ctx.clock.now();
    if (record.kind === 'points')
      await metrics.write({ run_id: run.id, points: record.body.points, at: now });
    if (record.kind === 'update') await runs.update(caller, run.id, record.body);
    if (record.kind === 'finish') await runs.finish(caller, run.id, record.body.status);
    if (record.kind === 'event') {
      await events.report(run, { body: record.body, key: record.key, at: toTime(record.ts, run, now) });
    }
    if (record.kind === 'checkpoint') {
      await checkpoints.register(run, record.body, 'sdk', toTime(record.ts, run, now));
    }
  }
}

/** The training's clock may be wrong: the time is clamped between the creation of the run and now. */
function toTime(ts: number, run: Run, now: number): number {
  return Math.min(Math.max(ts, run.created_at), now);
}
