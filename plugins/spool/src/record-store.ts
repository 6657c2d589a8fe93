import type { Run, SpoolRecord } from '@svc/contract';
import type { Caller, PluginContext } from '@svc/kernel';
import type { Checkpoints } from '@svc/plugin-checkpoints';
import type { Events } from '@svc/plugin-events';
import type { MetricDefinitions } from '@svc/plugin-metric-definitions';
import type { Metrics } from '@svc/plugin-metrics';
import type { Runs } from '@svc/plugin-runs';
import { foundPoints } from './hooks.js';

interface Stores {
  readonly runs: Runs;
  readonly metrics: Metrics;
  readonly definitions: MetricDefinitions;
  readonly checkpoints: Checkpoints;
  readonly events: Events;
}

/** Stores spooled records as the corresponding API requests would. */
export class RecordStore {
  constructor(
    private readonly ctx: Pick<PluginContext, 'clock' | 'db' | 'fire'>,
    private readonly stores: Stores,
  ) {}

  /** Resolves after the commit. `run` is the run of the record. Throws the errors of the corresponding request. */
  async store(record: SpoolRecord, run: Run, caller: Caller): Promise<void> {
    const { runs, metrics, definitions, checkpoints, events } = this.stores;
    const now = this.ctx.clock.now();
    if (record.kind === 'points') {
      const { points: all } = record.body;
      const points = record.found ? await this.ctx.fire(foundPoints, all, run) : all;
      if (points.length > 0) await metrics.write({ run_id: run.id, points, at: now });
    }
    if (record.kind === 'update') await runs.update(caller, run.id, record.body);
    if (record.kind === 'metric') await definitions.define(this.ctx.db, run, record.name, record.body, now);
    if (record.kind === 'finish') await runs.finish(caller, run.id, record.body);
    if (record.kind === 'event') {
      await events.report(run, { body: record.body, key: record.key, at: toTime(record.ts, run, now) });
    }
    if (record.kind === 'checkpoint_gone') {
      const { path, earlier } = record.body;
      const of = earlier ? await this.#earlierOnNode(run) : [run.id];
      for (const id of of) await checkpoints.markGone(id, path, toTime(record.ts, run, now));
    }
    if (record.kind === 'checkpoint') {
      await checkpoints.register(run, record.body, record.source ?? 'sdk', toTime(record.ts, run, now));
    }
  }

  /** The runs of other attempts of its job on its node. */
  async #earlierOnNode({ id, job_id }: Run): Promise<string[]> {
    const { db } = this.ctx;
    const { runs } = this.stores;
    const node = await runs.nodeOf(db, id);
    if (job_id === null || node === null) return [];
    const others = (await runs.ofJob(db, job_id)).filter((run) => run.id !== id);
    const nodes = await Promise.all(others.map((run) => runs.nodeOf(db, run.id)));
    return others.flatMap((run, index) => (nodes[index] === node ? [run.id] : []));
  }
}

/** The training's clock may be wrong: the time is clamped between the creation of the run and now. */
function toTime(ts: number, run: Run, now: number): number {
  return Math.min(Math.max(ts, run.created_at), now);
}
