import type { MetricPoint } from '@svc/contract';

/** A training that really optimizes, and what it reports. */
export interface Training {
  readonly name: string;
  run(): MetricPoint[];
}

export class Reports {
  readonly points: MetricPoint[] = [];

  log(step: number, values: Readonly<Record<string, number>>): void {
    for (const [name, value] of Object.entries(values)) {
      const seq = this.points.length;
      const word = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
      this.points.push({ seq, name, step, value: Number.isFinite(value) ? value : word, ts: step * 1000 });
    }
  }
}
