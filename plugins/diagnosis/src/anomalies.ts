import { withoutDirection, type Anomaly, type CauseRecord, type EventRecord } from '@svc/contract';
import type { HealthReason } from '@svc/signals';
import { groupBy } from './group-by.js';

export interface Facts {
  /** Of the health of the run. */
  readonly reasons: readonly HealthReason[];
  /** What rules about runs conclude. */
  readonly causes: readonly CauseRecord[];
  /** Warnings, newest first. */
  readonly events: readonly EventRecord[];
  /** The run has become slow. */
  readonly slow: Anomaly | null;
}

const MOST = 50;
const MOST_CITED = 5;
const ORDER = ['critical', 'warning', 'info'];
/** An event and a reason of the health that tell of the same. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  LOSS_NAN: ['nan', 'infinity'],
  LOSS_SPIKE: ['spike'],
  RUN_STALLED: ['silence'],
};

/** What a person would act on, the most severe first. What several sources tell is one, with the evidence of all. */
export function anomaliesOf({ reasons, causes, events, slow }: Facts): Anomaly[] {
  const ofMetrics = reasons.filter(({ kind }) => kind !== 'event').map(toAnomaly);
  const found = [...ofMetrics, ...(slow ? [slow] : [])];
  for (const same of groupBy(events, ({ type, title }) => `${type} ${title}`)) addEvents(found, same);
  for (const cause of causes) if (!addCause(found, cause)) found.push(ofCause(cause));
  return found
    .sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))
    .slice(0, MOST)
    .map(({ message, evidence, ...rest }) => ({
      ...rest,
      message: withoutDirection(message),
      evidence: evidence.slice(0, MOST_CITED),
    }));
}

function toAnomaly({ kind, status, message, evidence }: HealthReason): Anomaly {
  const severity = status === 'critical' ? 'critical' : 'warning';
  return { kind, severity, message, evidence: evidence.map((citation) => ({ ...citation })), fixes: [] };
}

/** Of what is known, the same event or the same metric that is NaN, a rule adds what to change. */
function addCause(found: readonly Anomaly[], { evidence, fixes }: CauseRecord): boolean {
  const cited = new Set(evidence.map(keyOf));
  const same = found.filter((anomaly) => anomaly.evidence.some((each) => cited.has(keyOf(each))));
  for (const anomaly of same) anomaly.fixes.push(...fixes);
  return same.length > 0;
}

/** Which of its points is cited makes no difference for a metric that is NaN. */
function keyOf(citation: Anomaly['evidence'][number]): string {
  const isNan = 'metric' in citation && citation.value === 'NaN';
  return isNan ? `NaN ${citation.metric}` : JSON.stringify(citation);
}

function metricOf(citation: Anomaly['evidence'][number] | undefined): string {
  return citation && 'metric' in citation ? citation.metric : '';
}

function ofCause({ rule, severity, title, message, evidence, fixes }: CauseRecord): Anomaly {
  return { kind: rule, severity, message: toSentence(title, message), evidence, fixes };
}

/** Those of one type and title; the newest comes first. */
function addEvents(found: Anomaly[], [newest, ...older]: readonly EventRecord[]): void {
  if (!newest) return;
  const { type, severity, title, message } = newest;
  const evidence = [newest, ...older].map(({ id }) => ({ event_id: id }));
  const same = found.find(({ kind, evidence: [first] }) => {
    const metric = withoutDirection(metricOf(first));
    return SAME[type]?.includes(kind) && (metric === '' || `${title} ${message}`.includes(metric));
  });
  if (same) return void same.evidence.push(...evidence);
  // That nothing came for a while is over when it is no longer a reason of the health.
  if (SAME[type]?.includes('silence')) return;
  const times = older.length > 0 ? ` (${older.length + 1} times)` : '';
  found.push({ kind: type, severity, message: `${toSentence(title, message)}${times}`, evidence, fixes: [] });
}

function toSentence(title: string, message: string): string {
  return message === '' || message === title ? title : `${title}: ${message}`;
}
