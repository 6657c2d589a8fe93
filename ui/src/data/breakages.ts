import { plural } from '../format.js';
import type { Api } from './api.js';
import type { EventFilter, EventRecord } from './event-list.js';
import { listEvents } from './events.js';

/** A job or run that failed or was lost, or another critical event, with what else was told of the same job or run. */
export interface Breakage {
  readonly kind: 'FAILED' | 'LOST' | 'critical';
  readonly event: EventRecord;
  /** Critical events of the same job or run, newest first. */
  readonly also: readonly EventRecord[];
}

type Question = EventFilter & { type?: string };

/** Of each, the newest events are read. */
const TROUBLE: readonly Question[] = [
  { severity: 'critical' },
  { severity: 'warning', type: 'RUN_FINISHED' },
  { type: 'JOB_LOST' },
  { type: 'RUN_LOST' },
];
/** What tells that something lost is there again. */
const RECOVERY: readonly Question[] = [
  { severity: 'info', type: 'RUN_FINISHED' },
  { type: 'JOB_FOUND' },
  { type: 'RUN_FOUND' },
];
const LIMIT = 200;

export interface BreakageNews {
  readonly events: readonly EventRecord[];
  /** There is more trouble than one answer holds: what was before this time is not known. null: all of it is. */
  readonly knownFrom: number | null;
}

export async function readBreakageNews(api: Api, signal?: AbortSignal): Promise<BreakageNews> {
  const ask = (question: Question) => listEvents(api, { ...question, limit: LIMIT }, signal);
  const [trouble, recovery] = await Promise.all([
    Promise.all(TROUBLE.map(ask)),
    Promise.all(RECOVERY.map(ask)),
  ]);
  const cut = trouble.flatMap((events) => (events.length < LIMIT ? [] : events.at(-1)!.created_at));
  return {
    events: [...trouble, ...recovery].flat(),
    knownFrom: cut.length === 0 ? null : Math.max(...cut),
  };
}

/** Whether `readBreakageNews` has something new to read. */
export function tellsOfBreakage(event: EventRecord): boolean {
  return [...TROUBLE, ...RECOVERY].some(
    ({ severity, type }) =>
      (!severity || severity === event.severity) && (type === undefined || type === event.type),
  );
}

/** What broke after `since` and is not known to be well again, newest first; what concerns one job or run is one. */
export function toBreakages(events: readonly EventRecord[], since: number): Breakage[] {
  const groups = new Map<string, Map<string, EventRecord>>();
  for (const event of events) {
    if (event.created_at <= since) continue;
    const key = keyOf(event);
    groups.set(key, (groups.get(key) ?? new Map<string, EventRecord>()).set(event.id, event));
  }
  return [...groups.values()]
    .flatMap((group) => toBreakage([...group.values()].sort(newestFirst)))
    .sort((a, b) => newestFirst(a.event, b.event));
}

function newestFirst(a: EventRecord, b: EventRecord): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1);
}

function keyOf({ id, job_id: jobId, run_id: runId }: EventRecord): string {
  return jobId ?? runId ?? id;
}

/** Of the events of one job or run, newest first. */
function toBreakage(events: readonly EventRecord[]): Breakage[] {
  const critical = events.filter(({ severity }) => severity === 'critical');
  const ends = events.flatMap((event) => {
    const kind = kindOfEnd(event);
    return kind === null ? [] : [{ kind, event }];
  });
  // A job that was lost is found or ends; a critical event stays.
  const last = ends[0];
  if (last && last.kind !== 'over') return [{ kind: last.kind, event: last.event, also: critical }];
  const [event, ...also] = critical;
  return event ? [{ kind: 'critical', event, also }] : [];
}

function kindOfEnd({ type, data }: EventRecord): 'FAILED' | 'LOST' | 'over' | null {
  if (type === 'RUN_FINISHED') return (data as { status?: unknown }).status === 'FAILED' ? 'FAILED' : 'over';
  if (type === 'JOB_LOST' || type === 'RUN_LOST') return 'LOST';
  return type === 'JOB_FOUND' || type === 'RUN_FOUND' ? 'over' : null;
}

/** `2 failed, 1 lost, 20 critical events in 3 runs`. */
export function countBreakages(breakages: readonly Breakage[]): string {
  const of = (kind: Breakage['kind']) => breakages.filter((each) => each.kind === kind);
  const [failed, lost, critical] = [of('FAILED').length, of('LOST').length, of('critical')];
  const parts: [number, string][] = [
    [failed, `${failed} failed`],
    [lost, `${lost} lost`],
    [critical.length, countCritical(critical)],
  ];
  return parts.flatMap(([number, text]) => (number === 0 ? [] : [text])).join(', ');
}

function countCritical(breakages: readonly Breakage[]): string {
  const events = breakages.reduce((sum, { also }) => sum + 1 + also.length, 0);
  const areOfRuns = breakages.every(({ event }) => event.run_id !== null);
  const isInFewer = areOfRuns && events > breakages.length;
  return `${plural(events, 'critical event')}${isInFewer ? ` in ${plural(breakages.length, 'run')}` : ''}`;
}
