import type { ExportFormat, MetricPoint } from '@svc/contract';
import { parquetReadObjects } from 'hyparquet';

/** A point as every format has it, as numbers. */
export interface Row {
  readonly name: string;
  readonly step: number;
  readonly epoch: number | null;
  readonly value: number;
  readonly ts: number;
  readonly seq: number;
}

const START = 1_700_000_000_000;

export function row(
  name: string,
  step: number,
  seq: number,
  value: number,
  epoch: number | null = null,
): Row {
  return { name, step, epoch, value, ts: START + (seq % 1000), seq };
}

export function inOrder(rows: readonly Row[]): Row[] {
  const byName = (a: Row, b: Row): number => (a.name < b.name ? -1 : Number(a.name > b.name));
  return rows.toSorted((a, b) => byName(a, b) || a.step - b.step || a.seq - b.seq);
}

export function toBatches(rows: readonly Row[]): MetricPoint[][] {
  const points = rows.map(({ epoch, value, ...rest }) => ({
    ...rest,
    value: Number.isFinite(value) ? value : (String(value) as 'NaN'),
    ...(epoch !== null && { epoch }),
  }));
  return Array.from({ length: Math.ceil(points.length / 10_000) }, (_, index) =>
    points.slice(index * 10_000, (index + 1) * 10_000),
  );
}

export async function readRows(format: ExportFormat, file: ArrayBuffer): Promise<Row[]> {
  if (format === 'parquet') return readParquet(file);
  const lines = Buffer.from(file).toString().split('\n').slice(0, -1);
  return format === 'csv' ? lines.slice(1).map(parseCsvLine) : lines.map(parseJsonLine);
}

/** As a reader of RFC 4180 does, for names without line breaks, and without the apostrophe before what looks like a formula. */
function parseCsvLine(line: string): Row {
  const [, quoted, plain, rest = ''] = /^(?:"((?:[^"]|"")*)"|([^",]*)),(.*)$/.exec(line) ?? [];
  const [step, epoch, value, ts, seq] = rest.split(',');
  return {
    name: (quoted?.replaceAll('""', '"') ?? plain ?? '').replace(/^'(?=[=+\-@])/, ''),
    step: Number(step),
    epoch: epoch === '' ? null : Number(epoch),
    value: Number(value),
    ts: Number(ts),
    seq: Number(seq),
  };
}

function parseJsonLine(line: string): Row {
  const parsed = JSON.parse(line) as Row;
  return { ...parsed, value: Number(parsed.value) };
}

async function readParquet(file: ArrayBuffer): Promise<Row[]> {
  const rows = await parquetReadObjects({ file });
  return rows.map(({ name, step, epoch, value, ts, seq }) => ({
    name: name as string,
    step: Number(step),
    epoch: (epoch as number | null) ?? null,
    value: value as number,
    ts: (ts as Date).getTime(),
    seq: Number(seq),
  }));
}
