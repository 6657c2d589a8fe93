import type { RunSummary } from '@svc/contract';
import { isDirectionKnown } from '@svc/contract/protocol';
import { measureOf, phaseOf } from '../chart/groups.js';
import type { Direction } from '../data/metric-definitions.js';

/** A metric that at least one of the runs has. */
export interface ComparedMetric {
  readonly name: string;
  /** Of how many of the runs. */
  readonly runCount: number;
  readonly isPrimary: boolean;
  /** null: nobody knows, and there is no best. */
  readonly direction: Direction | null;
}

const FIRST_METRICS = 6;
/** Each is a request and a chart. */
export const MOST_METRICS = 24;

/** The most telling first: the primary one, the losses, what is measured in phases, then what most of the runs have. */
export function metricsOf(summaries: readonly RunSummary[]): ComparedMetric[] {
  const found = new Map<string, ComparedMetric>();
  for (const { metrics } of summaries) {
    for (const [name, metric] of Object.entries(metrics)) {
      const before = found.get(name);
      found.set(name, {
        name,
        runCount: (before?.runCount ?? 0) + 1,
        isPrimary: metric.is_primary || (before?.isPrimary ?? false),
        direction: before?.direction ?? (isDirectionKnown(metric) ? metric.direction : null),
      });
    }
  }
  return [...found.values()].sort(byImportance);
}

/** Those that were chosen and exist, or the most telling ones. */
export function chooseMetrics(
  metrics: readonly ComparedMetric[],
  chosen: readonly string[] | null,
): ComparedMetric[] {
  if (chosen === null) return metrics.slice(0, FIRST_METRICS);
  return metrics.filter(({ name }) => chosen.includes(name)).slice(0, MOST_METRICS);
}

function byImportance(a: ComparedMetric, b: ComparedMetric): number {
  return (
    Number(b.isPrimary) - Number(a.isPrimary) ||
    rankOf(a) - rankOf(b) ||
    b.runCount - a.runCount ||
    Number(b.direction !== null) - Number(a.direction !== null) ||
    (a.name < b.name ? -1 : 1)
  );
}

function rankOf({ name }: ComparedMetric): number {
  if (measureOf(name) === 'loss') return 0;
  return phaseOf(name) === null ? 2 : 1;
}
