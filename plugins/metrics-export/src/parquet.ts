import { yieldIfSliceOver } from '@svc/kernel';
import type { Point, PointPage } from '@svc/plugin-metrics';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';

/** Encoding a row group blocks the event loop, for about 10 ms. */
const ROW_GROUP_POINTS = 8_192;

const SCHEMA: SchemaElement[] = [
  { name: 'points', num_children: 6 },
  { name: 'name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  { name: 'step', type: 'INT64', repetition_type: 'REQUIRED' },
  { name: 'epoch', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  { name: 'value', type: 'DOUBLE', repetition_type: 'REQUIRED' },
  { name: 'ts', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
  { name: 'seq', type: 'INT64', repetition_type: 'REQUIRED' },
];

type Row = readonly [name: string, point: Point];

/** Writes row group by row group. Only a few hundred bytes per group stay in memory, for the footer. */
export async function* toParquet(pages: AsyncIterable<PointPage>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({ writer: bytes, schema: SCHEMA, createdBy: 'svc' });
  let rows: Row[] = [];
  for await (const { name, points } of pages) {
    for (const point of points) rows.push([name, point]);
    while (rows.length >= ROW_GROUP_POINTS) {
      await yieldIfSliceOver();
      writeGroup(file, rows.slice(0, ROW_GROUP_POINTS));
      rows = rows.slice(ROW_GROUP_POINTS);
      yield take(bytes);
    }
  }
  if (rows.length > 0) writeGroup(file, rows);
  await file.finish();
  yield take(bytes);
}

function writeGroup(file: ParquetWriter, rows: readonly Row[]): void {
  const whole = (of: (point: Point) => number): bigint[] => rows.map(([, point]) => BigInt(of(point)));
  const columns = [
    { name: 'name', data: rows.map(([name]) => name) },
    { name: 'step', data: whole(({ step }) => step), encoding: 'DELTA_BINARY_PACKED' },
    { name: 'epoch', data: rows.map(([, { epoch }]) => epoch), encoding: 'PLAIN' },
    // A dictionary would not distinguish -0 from 0.
    { name: 'value', data: rows.map(([, { value }]) => value), encoding: 'PLAIN' },
    { name: 'ts', data: whole(({ ts }) => ts), encoding: 'DELTA_BINARY_PACKED' },
    { name: 'seq', data: whole(({ seq }) => seq), encoding: 'DELTA_BINARY_PACKED' },
  ] as const;
  void file.write({
    columnData: columns.map((column) => ({ ...column, offsetIndex: false })),
    rowGroupSize: rows.length,
  });
}

/** Returns a copy of what was written since the last call, as the buffer is reused. */
function take(bytes: ByteWriter): Uint8Array {
  const taken = bytes.getBytes().slice();
  bytes.index = 0;
  return taken;
}
