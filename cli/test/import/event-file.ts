import { PbfWriter } from 'pbf';
import { maskedCrc32c } from '../../../plugins/event-files/src/reader/crc32c.js';

/** An event file of TensorBoard that has these events. */
export function toEventFile(events: readonly Buffer[]): Buffer {
  return Buffer.concat(events.map(toTfRecord));
}

/** `at` in seconds. */
export function scalar(tag: string, step: number, value: number, at = 1000): Buffer {
  return toEvent(at, step, (pbf) =>
    pbf.writeMessage(
      5,
      (_none: null, summary) =>
        summary.writeMessage(
          1,
          (_value: null, inner) => {
            inner.writeStringField(1, tag);
            inner.writeFloatField(2, value);
          },
          null,
        ),
      null,
    ),
  );
}

/** As `add_hparams` writes it, with one number. */
export function hparams(name: string, value: number): Buffer {
  const info = new PbfWriter();
  const number = (_v: null, pbf: PbfWriter) => pbf.writeDoubleField(2, value);
  const entry = (_e: null, pbf: PbfWriter) => {
    pbf.writeStringField(1, name);
    pbf.writeMessage(2, number, null);
  };
  info.writeMessage(3, (_i: null, pbf) => pbf.writeMessage(1, entry, null), null);
  const content = info.finish();
  const plugin = (_p: null, pbf: PbfWriter) => {
    pbf.writeStringField(1, 'hparams');
    pbf.writeBytesField(2, content);
  };
  const summary = (_s: null, pbf: PbfWriter) => {
    pbf.writeStringField(1, '_hparams_/session_start_info');
    pbf.writeMessage(9, (_m: null, metadata: PbfWriter) => metadata.writeMessage(1, plugin, null), null);
  };
  return toEvent(1000, 0, (pbf) =>
    pbf.writeMessage(5, (_none: null, all) => all.writeMessage(1, summary, null), null),
  );
}

export function restart(step: number): Buffer {
  return toEvent(1000, step, (pbf) =>
    pbf.writeMessage(7, (_none: null, session) => session.writeVarintField(1, 1), null),
  );
}

function toEvent(at: number, step: number, write: (pbf: PbfWriter) => void): Buffer {
  const pbf = new PbfWriter();
  pbf.writeDoubleField(1, at);
  pbf.writeVarintField(2, step);
  write(pbf);
  return Buffer.from(pbf.finish());
}

function toTfRecord(data: Buffer): Buffer {
  const record = Buffer.alloc(12 + data.length + 4);
  record.writeBigUInt64LE(BigInt(data.length), 0);
  record.writeUInt32LE(maskedCrc32c(record, 0, 8) >>> 0, 8);
  data.copy(record, 12);
  record.writeUInt32LE(maskedCrc32c(record, 12, 12 + data.length) >>> 0, 12 + data.length);
  return record;
}
