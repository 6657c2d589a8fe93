import type { MetricPoint, Series, SeriesByName } from '@svc/contract';
import type { SseClient } from '@svc/kernel/testing';
import type { MetricsRig } from './metrics-rig.js';

interface Shown {
  readonly step: number;
  readonly value: unknown;
  readonly ts: number;
}

/**
 * Follows one metric of a run as the README of the plugin says: the stream is shown at once, what polls have read is what
 * counts. It loses each message of the stream that `loses` says, and breaks the connection after some of them.
 */
export class RepairingClient {
  wholeReads = 0;
  /** What polls have read, by step. */
  private settled: Shown[] = [];
  /** What the stream has sent since. */
  private fresh: Shown[] = [];
  /** Every point before this step was there when the last poll read. */
  private watermark = -Infinity;

  constructor(
    private readonly rig: MetricsRig,
    private readonly run: { id: string },
    private readonly name: string,
    private readonly loses: () => boolean,
    private readonly limit = 10_000,
  ) {}

  get points(): readonly Shown[] {
    return [...this.settled, ...this.fresh];
  }

  /** Resolves when the stream is over. */
  async follow(): Promise<void> {
    for (let isOver = false; !isOver;) isOver = await this.followOnce(await this.rig.stream(this.run));
  }

  private async followOnce(client: SseClient): Promise<boolean> {
    for await (const { event, data } of client) {
      if (event === 'end') return true;
      if (!this.loses()) this.show((data as { points: MetricPoint[] }).points);
      if (this.loses() && this.loses()) return false;
    }
    return false;
  }

  private show(points: readonly MetricPoint[]): void {
    for (const { name, step, value, ts } of points) {
      if (name !== this.name) continue;
      this.fresh.push({ step, value, ts: ts ?? 0 });
      this.watermark = Math.min(this.watermark, step);
    }
  }

  /** From the watermark; from the start when the run had more points than that gives, as one went back before it. */
  async poll(): Promise<void> {
    const { metrics } = await this.rig.summary(this.run);
    const from = this.watermark;
    this.fresh = [];
    const kept = this.settled.filter(({ step }) => step < from);
    const read = [...kept, ...(await this.read(from, Infinity))];
    this.settled = read.length < (metrics[this.name]?.count ?? 0) ? await this.readWhole() : read;
    this.watermark = this.settled.at(-1)?.step ?? -Infinity;
  }

  private readWhole(): Promise<Shown[]> {
    this.wholeReads += 1;
    return this.read(-Infinity, Infinity);
  }

  /** In halves where the answer is thinned. */
  private async read(from: number, to: number): Promise<Shown[]> {
    const series = await this.ask(from, to);
    const [first, last] = [series.steps[0] ?? 0, series.steps.at(-1) ?? 0];
    if (!series.downsampled)
      return series.steps.map((step, at) => ({ step, value: series.values[at], ts: series.ts[at] ?? 0 }));
    const middle = Math.floor((first + last) / 2);
    return [...(await this.read(first, middle)), ...(await this.read(middle + 1, last))];
  }

  private async ask(from: number, to: number): Promise<Series> {
    const bounds = [
      Number.isFinite(from) ? `&step_from=${from}` : '',
      Number.isFinite(to) ? `&step_to=${to}` : '',
    ];
    const query = `?names=${this.name}&limit=${this.limit}${bounds.join('')}`;
    const answer: SeriesByName = await this.rig.series(this.run, query);
    return answer[this.name] ?? { steps: [], values: [], ts: [], total: 0, downsampled: false };
  }
}
