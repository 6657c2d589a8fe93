import { routes, type MetricPoint } from '@svc/contract';
import type { Client } from '@svc/client';
import { pointOf, type RunLedger } from './ingest-clients.js';

/** What of the promises the stored points of a run break; `undecided`: batches that were sent and never answered. */
export async function checkRun(
  client: Client,
  ledger: RunLedger,
  undecided: readonly (readonly number[])[],
): Promise<string[]> {
  const { run_id } = ledger;
  const points = await readPoints(client, run_id);
  const { metrics } = await client.call(routes.getRunSummary, { params: { run_id } });
  const counts = new Map(Object.entries(metrics).map(([name, { count }]) => [name, count]));
  return [...judgePoints(points, ledger, undecided), ...judgeCounts(points, counts)].map(
    (breach) => `${run_id}: ${breach}`,
  );
}

export function judgePoints(
  points: readonly MetricPoint[],
  { sent, acknowledged }: Pick<RunLedger, 'sent' | 'acknowledged'>,
  undecided: readonly (readonly number[])[],
): string[] {
  const stored = new Set(points.map(({ seq }) => seq));
  const lost = [...acknowledged].filter((seq) => !stored.has(seq));
  const invented = [...stored].filter((seq) => !sent.has(seq));
  const changed = points.filter((point) => !isFirst(point)).map(({ seq }) => seq);
  const torn = undecided.filter((seqs) => {
    const count = seqs.filter((seq) => stored.has(seq)).length;
    return count > 0 && count < seqs.length;
  });
  return [
    ...tell('acknowledged and lost', lost),
    ...tell('invented', invented),
    ...tell('not as first sent', changed),
    ...tell('stored twice', points.length > stored.size ? [points.length - stored.size] : []),
    ...tell(
      'stored in part: batches from seq',
      torn.flatMap((seqs) => seqs.slice(0, 1)),
    ),
  ];
}

/** The summary is kept up to date with each batch: it must say what is there. */
export function judgeCounts(points: readonly MetricPoint[], counts: ReadonlyMap<string, number>): string[] {
  const stored = new Map<string, number>();
  for (const { name } of points) stored.set(name, (stored.get(name) ?? 0) + 1);
  return [...new Set([...stored.keys(), ...counts.keys()])]
    .filter((name) => stored.get(name) !== counts.get(name))
    .map(
      (name) => `${name} has ${stored.get(name) ?? 0} points, its summary counts ${counts.get(name) ?? 0}`,
    );
}

function isFirst({ seq, name, step, value, ts }: MetricPoint): boolean {
  const first = pointOf(seq);
  return name === first.name && step === first.step && value === first.value && ts === first.ts;
}

function tell(what: string, seqs: readonly number[]): string[] {
  return seqs.length === 0 ? [] : [`${what}: ${seqs.length}, such as ${seqs.slice(0, 5).join(', ')}`];
}

async function readPoints(client: Client, run_id: string): Promise<MetricPoint[]> {
  const answer = await client.open(routes.exportMetrics, { params: { run_id }, query: { format: 'jsonl' } });
  const lines = (await answer.text()).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as MetricPoint);
}
