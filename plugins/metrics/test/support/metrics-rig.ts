import type { MetricPoint, MetricValue, Run, RunSummary, SeriesByName } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import type { SseClient, TestAnswer, TestDatabase } from '@svc/kernel/testing';
import { Rig } from '../../../runs/test/support/rig.js';
import { metrics, pointsAppended, type PointBatch } from '../../src/index.js';

export const UNKNOWN_RUN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';

export type NewRun = Run & { readonly ingest_token: string };

/** The plugin on a real server, and what `pointsAppended` has told. */
export class MetricsRig {
  private constructor(
    readonly http: Rig,
    readonly appended: readonly PointBatch[],
  ) {}

  static async start(database?: TestDatabase): Promise<MetricsRig> {
    const appended: PointBatch[] = [];
    const observer = definePlugin({
      name: 'observer',
      requires: ['metrics'],
      setup: (ctx) => ctx.tap(pointsAppended, (batch) => void appended.push(batch)),
    });
    const plugins = [metrics(), observer()];
    return new MetricsRig(await Rig.start({ plugins, ...(database && { database }) }), appended);
  }

  close(): Promise<void> {
    return this.http.close();
  }

  async newRun(body: object = {}): Promise<NewRun> {
    return (await this.http.post('/runs', body, this.http.tokens.sdk)).body as NewRun;
  }

  write(run: { id: string }, points: readonly unknown[], token?: string): Promise<TestAnswer> {
    return this.http.post(`/runs/${run.id}/metrics:batch`, { points }, token);
  }

  read(run: { id: string }, query = ''): Promise<TestAnswer> {
    return this.http.get(`/runs/${run.id}/metrics${query}`);
  }

  async series(run: { id: string }, query = ''): Promise<SeriesByName> {
    return ((await this.read(run, query)).body as { series: SeriesByName }).series;
  }

  async summary(run: { id: string }): Promise<RunSummary> {
    return (await this.http.get(`/runs/${run.id}/summary`)).body as RunSummary;
  }

  stream(run: { id: string }, query = ''): Promise<SseClient> {
    return this.http.kernel.sse(`/runs/${run.id}/metrics/stream${query}`, { token: this.http.tokens.read });
  }

  finish(run: { id: string }, status = 'SUCCEEDED', token?: string): Promise<TestAnswer> {
    return this.http.post(`/runs/${run.id}/finish`, { status }, token);
  }

  put(path: string, body: object): Promise<TestAnswer> {
    return this.http.kernel.request('PUT', path, { token: this.http.tokens.write, body });
  }
}

/** Of the metric `loss`; its value is its seq. */
export function point(seq: number, more: Partial<MetricPoint> = {}): MetricPoint {
  return { seq, name: 'loss', step: seq, value: seq, ...more };
}

/** One point for each value, from that seq on, at steps from 0. */
export function pointsOf(name: string, values: readonly MetricValue[], firstSeq = 0): MetricPoint[] {
  return values.map((value, step) => ({ seq: firstSeq + step, name, step, value }));
}

export function count(length: number, from = 0): number[] {
  return Array.from({ length }, (_, index) => from + index);
}
