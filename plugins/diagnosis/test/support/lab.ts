import { type Checkpoint, type Diagnosis, type EventDraft, type MetricValue, type Run } from '@svc/contract';
import type { Plugin } from '@svc/kernel';
import type { TestDatabase } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { evaluations } from '@svc/plugin-evaluations';
import { eventsRef } from '@svc/plugin-events';
import { failures } from '@svc/plugin-failures';
import { logs } from '@svc/plugin-logs';
import { metrics, metricsRef } from '@svc/plugin-metrics';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { retention } from '@svc/plugin-retention';
import { runsRef } from '@svc/plugin-runs';
import { expect } from 'chai';
import { endEvaluation, storeResult } from '../../../evaluations/src/store.js';
import { Rig } from '../../../runs/test/support/rig.js';
import { diagnosis } from '../../src/index.js';

type Labels = Partial<Record<'suite' | 'dataset' | 'dataset_version', string>>;

/** A real server with everything that a diagnosis reads. */
export class Lab {
  #seq = 0;

  private constructor(readonly rig: Rig) {}

  static async open(database: TestDatabase, more: readonly Plugin[] = []): Promise<Lab> {
    const plugins = [logs(), metrics(), nodeMetrics(), checkpoints(), evaluations(), failures(), diagnosis()];
    return new Lab(await Rig.start({ database, plugins: [...plugins, retention(), ...more] }));
  }

  close(): Promise<void> {
    return this.rig.close();
  }

  async diagnose({ id }: { readonly id: string }): Promise<Diagnosis> {
    const { status, body } = await this.rig.get(`/runs/${id}/diagnosis`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as Diagnosis;
  }

  /** A run that has logged these values, one a second, the last of each metric just now. */
  async runWith(series: Readonly<Record<string, readonly MetricValue[]>>, body: object = {}): Promise<Run> {
    const run = await this.rig.createRun(body);
    await this.log(run, series);
    return run;
  }

  async log(
    { id }: { readonly id: string },
    series: Readonly<Record<string, readonly MetricValue[]>>,
    { firstStep = 0, everyMs = 1000, until = Date.now() } = {},
  ): Promise<void> {
    const points = Object.entries(series).flatMap(([name, values]) =>
      values.map((value, index) => {
        const ts = until - everyMs * (values.length - 1 - index);
        return { seq: (this.#seq += 1), name, step: firstStep + index, value, ts };
      }),
    );
    await this.must('POST', `/runs/${id}/metrics:batch`, { points });
  }

  /** Directly, for many points. */
  async logMany(run: Run, name: string, values: readonly number[]): Promise<void> {
    const at = Date.now();
    const points = values.map((value, step) => ({ seq: (this.#seq += 1), name, step, value, ts: at + step }));
    await this.rig.kernel.use(metricsRef).write({ run_id: run.id, points, at });
  }

  async must(method: string, path: string, body?: unknown) {
    const token = this.rig.tokens.write;
    const answer = await this.rig.kernel.request(method, path, {
      token,
      ...(body !== undefined && { body }),
    });
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).to.be.below(300);
    return answer.body;
  }

  async checkpoint(run: Run, step: number): Promise<Checkpoint> {
    return this.must('POST', `/runs/${run.id}/checkpoints`, { path: `/out/checkpoint-${step}`, step });
  }

  /** An evaluation that has SUCCEEDED. */
  async evaluated(
    { id }: Checkpoint,
    values: Record<string, MetricValue>,
    labels: Labels = {},
  ): Promise<void> {
    const { kernel } = this.rig;
    const body = { command: ['eval.sh'], node_selector: { node: 'none' }, ...labels };
    const evaluation = (await this.must('POST', `/checkpoints/${id}/evaluations`, body)) as { id: string };
    await storeResult(kernel.db, evaluation.id, 1, { metrics: values, runtime_s: 1 });
    const end = { status: 'SUCCEEDED', error: null, finished_at: Date.now() } as const;
    await endEvaluation(kernel.db, evaluation.id, end);
  }

  async event(draft: EventDraft): Promise<string> {
    const { kernel } = this.rig;
    const append = kernel.use(eventsRef);
    return (await kernel.ctx.transaction((tx) => append.append(tx, draft))).id;
  }

  run(id: string): Promise<Run> {
    return this.rig.kernel.use(runsRef).require(this.rig.kernel.db, id);
  }
}

/** A loss that falls, without noise. */
export function falling(length: number): number[] {
  return Array.from({ length }, (_, step) => 1 / (1 + step / 10));
}
