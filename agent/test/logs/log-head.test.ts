import { MAX_LINE_BYTES } from '@svc/contract/protocol';
import { expect } from 'chai';
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { LineSplitter } from '../../src/logs/line-splitter.js';
import {
  findLogHead,
  ensureLogHeads,
  WHOLE_LOG,
  WHOLE_LOGS,
  saveLogHeads,
  type LogHead,
} from '../../src/logs/log-head.js';

function linesFrom(data: Buffer, offset: number): string[] {
  const splitter = new LineSplitter(offset);
  return [...splitter.push(data.subarray(offset)).texts, ...splitter.flush().texts];
}

describe('agent: cuts of a log', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-cut-'));
    file = path.join(dir, 'stdout');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const cutOf = (data: Buffer | string, target: number, from: LogHead = WHOLE_LOG) => {
    writeFileSync(file, data);
    return findLogHead(file, from, target, 7);
  };

  it('leave the lines behind them as they were, and count those before them, wherever they are made', async () => {
    const unit = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom('\n', '\r', '\r\n', '\n\n', '漢'.repeat(MAX_LINE_BYTES / 2)),
      fc.constant('x'.repeat(300_000)),
    );
    const anyLog = fc.array(unit, { maxLength: 30 }).map((parts) => Buffer.from(parts.join('')));
    const anyPlace = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(anyLog, anyPlace, anyPlace, async (data, first, second) => {
        const all = linesFrom(data, 0);
        let cut: LogHead = WHOLE_LOG;
        for (const place of [first, second]) {
          cut = await cutOf(data, Math.floor(place * data.length), cut);
          expect(linesFrom(data, cut.to)).to.deep.equal(all.slice(cut.lines));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never end within a line: it goes as a whole', async () => {
    expect(await cutOf('one\ntwo\nthree\n', 5)).to.deep.equal({ ...WHOLE_LOG, to: 8, lines: 2, at: 7 });
    expect(await cutOf('one\ntwo\nthree\n', 4)).to.deep.equal({ ...WHOLE_LOG, to: 4, lines: 1, at: 7 });
    expect(await cutOf('one\ntwo\nthr', 10)).to.deep.equal({ ...WHOLE_LOG, to: 8, lines: 2, at: 7 });
    expect(await cutOf('no end yet', 5)).to.deep.equal(WHOLE_LOG);
  });

  it('take the states of a progress bar that count no more, and no line', async () => {
    expect(await cutOf('10%\r20%\r30%', 6)).to.deep.equal({ ...WHOLE_LOG, to: 8, lines: 0, at: 7 });
  });

  it('are found again on the disk', async () => {
    expect(await ensureLogHeads(dir)).to.deep.equal(WHOLE_LOGS);
    const cuts = { stdout: { ...WHOLE_LOG, to: 8, lines: 2, at: 7 }, stderr: WHOLE_LOG };
    await saveLogHeads(dir, cuts);
    expect(await ensureLogHeads(dir)).to.deep.equal(cuts);
  });

  it('are found as an agent left them that knew nothing of emptied files', async () => {
    writeFileSync(path.join(dir, 'cut.json'), '{"stdout":{"to":8,"lines":2,"at":7}}');
    expect(await ensureLogHeads(dir)).to.deep.equal({
      stdout: { ...WHOLE_LOG, to: 8, lines: 2, at: 7 },
      stderr: WHOLE_LOG,
    });
  });
});
