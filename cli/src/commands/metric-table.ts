import { isDirectionKnown, type MetricSummary, type SeriesByName } from '@svc/contract';
import { toNumber } from '../output/format.js';
import { toSparkline } from '../output/sparkline.js';
import type { Paint } from '../output/style.js';
import { GAP, toTable, type Column } from '../output/table.js';
import { widthOf } from '../output/text-width.js';

export const CURVE_WIDTH = 32;
const NARROWEST_CURVE = 8;

export interface MetricRow {
  readonly name: string;
  readonly metric: MetricSummary;
}

const METRIC_COLUMNS: readonly Column<MetricRow>[] = [
  {
    title: 'METRIC',
    cell: ({ name, metric }) => (metric.is_primary ? `${name} (primary)` : name),
    style: ({ metric }) => (metric.is_primary ? 'bold' : null),
    shrinks: true,
  },
  { title: 'LATEST', cell: ({ metric }) => toNumber(metric.latest.value), align: 'right' },
  { title: 'BEST', cell: ({ metric }) => (metric.best ? toNumber(metric.best.value) : '-'), align: 'right' },
  { title: 'WANTED', cell: ({ metric }) => toWanted(metric) },
  { title: 'AT STEP', cell: ({ metric }) => String(metric.best?.step ?? '-'), align: 'right' },
  { title: 'TREND', cell: ({ metric }) => metric.trend },
];

/** The curve takes what the other columns leave, so that the names are whole. */
export function toMetricTable(
  rows: readonly MetricRow[],
  series: SeriesByName,
  paint: Paint,
  width: number,
): string[] {
  const others = toTable(METRIC_COLUMNS, rows, (_style, text) => text, Infinity);
  const room = width - Math.max(...others.map(widthOf)) - GAP;
  const curveWidth = Math.max(NARROWEST_CURVE, Math.min(CURVE_WIDTH, room));
  const toCurve = ({ name }: MetricRow) => toSparkline(series[name]?.values ?? [], curveWidth);
  const curve: Column<MetricRow> = { title: 'CURVE', cell: toCurve, style: () => 'cyan' };
  return toTable([...METRIC_COLUMNS, curve], rows, paint, width);
}

function toWanted(metric: MetricSummary): string {
  if (!isDirectionKnown(metric)) return 'unknown';
  return metric.direction === 'minimize' ? 'low' : 'high';
}

/** What to do about metrics of which nobody knows whether low or high values are good. */
export function toUnknownLines(rows: readonly MetricRow[], paint: Paint): string[] {
  const unknown = rows.filter(({ metric }) => !isDirectionKnown(metric));
  if (unknown.length === 0) return [];
  const set = `svc metrics set NAME --direction minimize|maximize`;
  return [paint('dim', `direction unknown, so no best value (${unknown.length} of ${rows.length}): ${set}`)];
}
