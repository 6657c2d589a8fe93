import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { maskedCrc32c } from '../src/reader/crc32c.js';
import { readEventFile, type Item } from '../src/reader.js';
import { record, restartRecord, scalarRecord } from './event-bytes.js';

describe('the reader of event files', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'event-files-'));
    file = path.join(folder, 'events.out.tfevents.1.host');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const records = Array.from({ length: 20 }, (_, step) =>
    scalarRecord(`train/loss-${step % 3}`, step, step / 8),
  );
  const whole = Buffer.concat(records);

  it('has the check value of CRC32C', () => {
    const unmasked = 0xe3069283;
    const masked = (((unmasked >>> 15) | (unmasked << 17)) + 0xa282ead8) | 0;
    expect(maskedCrc32c(Buffer.from('123456789'), 0, 9)).to.equal(masked);
  });

  it('reads scalars and restarts', async () => {
    writeFileSync(file, Buffer.concat([scalarRecord('loss', 7, 0.5, 12.5), restartRecord(5)]));
    expect((await read(file)).items).to.deep.equal([
      { kind: 'scalar', tag: 'loss', step: 7, value: 0.5, wallTimeMs: 12_500 },
      { kind: 'restart', step: 5 },
    ]);
  });

  it('waits for the rest of a file that is cut off anywhere, and goes on with it', async () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      writeFileSync(file, whole.subarray(0, cut));
      const before = await read(file);
      expect(before.corrupt).to.equal(0);
      writeFileSync(file, whole);
      const after = await read(file, before.offset);
      expect(steps([...before.items, ...after.items])).to.deep.equal(steps((await read(file)).items));
      expect(before.items.length).to.equal(wholeRecords(cut));
    }
  });

  it('loses no other record by a byte that is wrong', async () => {
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x55;
      writeFileSync(file, bytes);
      const wrong = wholeRecords(at);
      const { items, corrupt } = await read(file);
      expect(steps(items), `byte ${at}`).to.deep.equal(steps20.filter((step) => step !== wrong));
      // Behind the last record nothing shows that it is not on its way.
      expect(corrupt).to.equal(wrong === records.length - 1 ? 0 : 1);
    }
  });

  it('invents nothing, whatever bytes it is given', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.nat(whole.length), async (noise, at) => {
        writeFileSync(file, Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]));
        const { items } = await read(file);
        const known = new Set(steps20);
        expect(steps(items).every((step) => known.has(step))).to.equal(true);
        expect(items.length).to.be.at.least(records.length - 1);
      }),
      { numRuns: 200 },
    );
  });

  it('takes a record that is no event for a corrupt one, and never reads beyond its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (data) => {
        writeFileSync(file, Buffer.concat([record(data), scalarRecord('loss', 1, 2)]));
        const { items } = await read(file);
        expect(items.at(-1)).to.deep.include({ tag: 'loss', step: 1, value: 2 });
      }),
      { numRuns: 500 },
    );
  });

  it('passes over a record of more than 1 MiB, once all of it is there', async () => {
    const image = scalarRecord('x'.repeat(1024 * 1024), 1, 1);
    writeFileSync(file, Buffer.concat([scalarRecord('a', 1, 1), image, scalarRecord('b', 2, 2)]));
    expect(steps((await read(file)).items)).to.deep.equal([1, 2]);
    truncateSync(file, 1024 * 1024);
    const before = await read(file);
    expect(before.offset).to.equal(scalarRecord('a', 1, 1).length);
  });

  it('gives up a long stretch that is no record', async () => {
    const noise = Buffer.alloc(3 * 1024 * 1024, 'x');
    writeFileSync(file, Buffer.concat([scalarRecord('a', 1, 1), noise, scalarRecord('b', 2, 2)]));
    const { items, corrupt } = await read(file);
    expect(steps(items)).to.deep.equal([1, 2]);
    expect(corrupt).to.be.at.least(1);
  });

  it('refuses what is no regular file', async () => {
    writeFileSync(file, whole);
    const link = path.join(folder, 'link.tfevents');
    symlinkSync(file, link);
    for (const [name, error] of [
      [folder, 'not a regular file'],
      [link, 'ELOOP'],
    ] as const) {
      const failure = await read(name).catch((error: unknown) => error);
      expect(String(failure)).to.contain(error);
    }
  });

  const steps20 = Array.from({ length: records.length }, (_, step) => step);

  /** Records of the file that lie before byte `at`. */
  function wholeRecords(at: number): number {
    let end = 0;
    return records.filter((bytes) => (end += bytes.length) <= at).length;
  }
});

async function read(file: string, from = 0) {
  const items: Item[] = [];
  let corrupt = 0;
  let offset = from;
  for await (const batch of readEventFile(file, { from })) {
    items.push(...batch.items);
    corrupt += batch.corrupt;
    ({ offset } = batch);
  }
  return { items, corrupt, offset };
}

function steps(items: Item[]): number[] {
  return items.flatMap((item) => (item.kind === 'hparams' ? [] : [item.step]));
}
