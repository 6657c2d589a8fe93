import type { MetricPoint, SpoolRecord } from '@svc/contract';
import { FOUND_SEQ_START, toMetricValue } from '@svc/contract/protocol';
import { createHash } from 'node:crypto';
import type { HParams, Item, Scalar } from '../reader.js';

/** Must hold: a line of the spool has at most 1 MiB. */
const POINTS_PER_RECORD = 1000;
const MAX_NAME = 250;
const LATEST_MS = 8.64e15;

/** The first seq of a file: the same after a restart of the agent, so that nothing is counted twice whatever is read again. */
export function firstSeq(...identity: (string | number)[]): number {
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest();
  return FOUND_SEQ_START + Number(hash.readBigUInt64BE() >> 13n);
}

/** Where the items of a file go. */
export interface Destination {
  readonly runId: string;
  readonly prefix: string;
  /** Of the first scalar among the items. */
  readonly seq: number;
  /** Whether the run has that metric, or has room for it. */
  readonly takesName: (name: string) => boolean;
}

/** The records for the server, and how many scalars are left out. Each scalar has a seq, also one that the server would refuse and that is left out. */
export function toRecords(
  items: readonly Item[],
  { runId: run_id, prefix, seq, takesName }: Destination,
): { records: SpoolRecord[]; leftOut: number } {
  const scalars = items.filter((item): item is Scalar => item.kind === 'scalar');
  const points = scalars
    .map((scalar, index) => toPoint(scalar, prefix, seq + index))
    .filter((point) => isStorable(point) && takesName(point.name));
  const records: SpoolRecord[] = [];
  for (let first = 0; first < points.length; first += POINTS_PER_RECORD) {
    const body = { points: points.slice(first, first + POINTS_PER_RECORD) };
    records.push({ kind: 'points', run_id, found: true, body });
  }
  for (const item of items) {
    if (item.kind === 'hparams')
      records.push({ kind: 'update', run_id, body: { fill: { config: toConfig(item) } } });
  }
  return { records, leftOut: scalars.length - points.length };
}

function toPoint({ tag, step, value, wallTimeMs }: Scalar, prefix: string, seq: number): MetricPoint {
  const ts = Math.round(wallTimeMs);
  const hasTime = ts >= 0 && ts <= LATEST_MS;
  return { seq, name: `${prefix}${tag}`, step, value: toMetricValue(value), ...(hasTime && { ts }) };
}

function isStorable({ name, step }: MetricPoint): boolean {
  return (
    name.length > 0 &&
    name.length <= MAX_NAME &&
    !/[\u0000-\u001f\u007f]/.test(name) &&
    Number.isSafeInteger(step)
  );
}

/** JSON has no number for NaN and infinities. */
function toConfig({ values }: HParams): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number' ? toMetricValue(value) : value,
    ]),
  );
}
