import { crc32 } from 'node:zlib';
import { PbfWriter } from 'pbf';

const BLOCK_BYTES = 32 * 1024;
const HEADER = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0x00]);
const [RUN, CONFIG, HISTORY, EXIT] = [17, 5, 2, 18];

export const wandbRecord = {
  run: (fields: {
    id: string;
    project?: string;
    name?: string;
    config?: object;
    notes?: string;
    startedAt?: number;
  }) =>
    toRecord(RUN, (pbf) => {
      pbf.writeStringField(1, fields.id);
      if (fields.project) pbf.writeStringField(3, fields.project);
      if (fields.config) pbf.writeMessage(4, writeItems, { tag: 1, values: fields.config });
      if (fields.name) pbf.writeStringField(8, fields.name);
      if (fields.notes) pbf.writeStringField(9, fields.notes);
      pbf.writeMessage(
        17,
        (seconds: number, inner) => inner.writeVarintField(1, seconds),
        fields.startedAt ?? 1000,
      );
    }),
  config: (values: object) => toRecord(CONFIG, (pbf) => writeItems({ tag: 1, values }, pbf)),
  history: (step: number, values: object) =>
    toRecord(HISTORY, (pbf) => {
      writeItems({ tag: 1, values: { ...values, _timestamp: 1000 + step } }, pbf);
      pbf.writeMessage(2, (num: number, inner) => inner.writeVarintField(1, num), step);
    }),
  exit: (code: number) => toRecord(EXIT, (pbf) => pbf.writeVarintField(1, code)),
};

/** A .wandb file of these records, each cut into pieces where a block ends. */
export function toWandbFile(records: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [HEADER];
  let at = HEADER.length;
  const write = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  for (const record of records) {
    for (let from = 0; ;) {
      const left = BLOCK_BYTES - (at % BLOCK_BYTES);
      if (left < 7) {
        write(Buffer.alloc(left));
        continue;
      }
      const piece = record.subarray(from, from + left - 7);
      const isLast = from + piece.length === record.length;
      write(toChunk(isLast ? (from === 0 ? 1 : 4) : from === 0 ? 2 : 3, piece));
      from += piece.length;
      if (isLast) break;
    }
  }
  return Buffer.concat(parts);
}

function toChunk(type: number, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(6), Buffer.from([type]), data]);
  chunk.writeUInt32LE(crc32(chunk.subarray(6)), 0);
  chunk.writeUInt16LE(data.length, 4);
  return chunk;
}

function toRecord(tag: number, write: (pbf: PbfWriter) => void): Buffer {
  const pbf = new PbfWriter();
  pbf.writeMessage(tag, (_none: null, inner) => write(inner), null);
  return Buffer.from(pbf.finish());
}

function writeItems({ tag, values }: { tag: number; values: object }, pbf: PbfWriter): void {
  for (const [key, value] of Object.entries(values))
    pbf.writeMessage(
      tag,
      (_none: null, item) => {
        for (const part of key.split('.')) item.writeStringField(2, part);
        item.writeStringField(16, typeof value === 'string' ? value : JSON.stringify(value));
      },
      null,
    );
}
