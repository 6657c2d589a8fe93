import type { ChartMark } from '../chart/chart-lines.js';
import type { EventRecord } from '../data/event-list.js';
import { formatCount } from '../format.js';

export interface MetricPoint {
  readonly metric: string;
  readonly step: number;
}

/** Where in the curves an event has happened; `metric` null: in all of them. null: it names no step. */
export function pointOfEvent({
  data,
}: Pick<EventRecord, 'data'>): { metric: string | null; step: number } | null {
  const { metric, step } = data as Record<string, unknown>;
  if (typeof step !== 'number' || !Number.isFinite(step)) return null;
  return { metric: typeof metric === 'string' ? metric : null, step };
}

/** What happened in these metrics, by step; with the point that the address leads to. Checkpoints are no such event. */
export function marksOf(
  events: readonly EventRecord[],
  point: MetricPoint | null,
  names: readonly string[],
): ChartMark[] {
  const marks = events.flatMap((event): ChartMark[] => {
    const place = event.type === 'CHECKPOINT_CREATED' ? null : pointOfEvent(event);
    if (place === null || (place.metric !== null && !names.includes(place.metric))) return [];
    return [{ step: place.step, ts: null, tone: event.severity, label: event.title }];
  });
  const isNew =
    point !== null && names.includes(point.metric) && marks.every(({ step }) => step !== point.step);
  if (isNew) {
    const label = `${point.metric} at step ${formatCount(point.step)}`;
    marks.push({ step: point.step, ts: null, tone: 'info', label });
  }
  return marks.sort((a, b) => a.step - b.step);
}
