import { PbfWriter } from 'pbf';
import { maskedCrc32c } from '../src/reader/crc32c.js';

/** The bytes of a record of an event file with one scalar, as `SummaryWriter.add_scalar` writes it. */
export function scalarRecord(tag: string, step: number, value: number, wallTime = 1_700_000_000): Buffer {
  return record(
    event((pbf) => {
      pbf.writeDoubleField(1, wallTime);
      pbf.writeVarintField(2, step);
      pbf.writeMessage(
        5,
        (_summary, summary) => {
          summary.writeMessage(
            1,
            (_value, inner) => {
              inner.writeStringField(1, tag);
              inner.writeFloatField(2, value);
            },
            null,
          );
        },
        null,
      );
    }),
  );
}

/** The record of a training that begins again at `step`: `SummaryWriter(purge_step=step)`. */
export function restartRecord(step: number): Buffer {
  return record(
    event((pbf) => {
      pbf.writeVarintField(2, step);
      pbf.writeMessage(7, (_log, log) => log.writeVarintField(1, 1), null);
    }),
  );
}

export function record(data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 16);
  bytes.writeBigUInt64LE(BigInt(data.length), 0);
  bytes.writeInt32LE(maskedCrc32c(bytes, 0, 8), 8);
  bytes.set(data, 12);
  bytes.writeInt32LE(maskedCrc32c(data, 0, data.length), 12 + data.length);
  return bytes;
}

function event(write: (pbf: PbfWriter) => void): Uint8Array {
  const pbf = new PbfWriter();
  write(pbf);
  return pbf.finish();
}
