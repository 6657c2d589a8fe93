import type { LogLine } from '@svc/contract';
import { expect } from 'chai';
import { layOutPartials, LogLayout } from '../src/log/log-layout.js';
import { CUT_CHARS, LogRows, countCells, showAll, toRow } from '../src/log/log-rows.js';
import { LogScan, type ScanLine } from '../src/log/log-scan.js';
import { cellsBefore, isMatch, toLowerCase, toSegments } from '../src/log/log-search.js';
import { baseAround, firstAtOrAfter, LogSpace, MAX_LINES_SHOWN } from '../src/log/log-space.js';

const line = (seq: number, text = `line ${seq}`, stream: LogLine['stream'] = 'stdout'): LogLine => ({
  seq,
  stream,
  ts: seq,
  text,
});
const lines = (from: number, to: number): LogLine[] =>
  Array.from({ length: to - from }, (_, at) => line(from + at));
const seqsOf = (rows: LogRows): number[] => [...rows.all()].map(({ seq }) => seq);

describe('LogRows', () => {
  it('takes each line once, in whatever order they come', () => {
    const rows = new LogRows();
    rows.add(lines(3, 6));
    expect(rows.add(lines(0, 5)).map(({ seq }) => seq)).to.deep.equal([0, 1, 2]);
    expect(seqsOf(rows)).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect([rows.total, rows.hasAll]).to.deep.equal([6, true]);
  });

  it('knows which lines were not read yet, and which are nowhere', () => {
    const rows = new LogRows();
    rows.add([line(2), line(5)]);
    expect(rows.hasAll).to.equal(false);
    rows.settle(2, 100);
    expect([...rows.all()].map(({ seq, isMissing }) => [seq, isMissing])).to.deep.equal([
      [2, false],
      [3, true],
      [4, true],
      [5, false],
    ]);
    expect(rows.total).to.equal(6);
  });

  it('stays within its limits in lines, and gives up what was not looked at for longest', () => {
    const rows = new LogRows({ lines: 2000, chars: 1e9 });
    rows.add(lines(0, 2000));
    rows.touch(0, 10);
    rows.add(lines(2000, 3500));
    expect(rows.count).to.be.at.most(2000);
    expect([rows.get(0)?.seq, rows.get(600), rows.get(3499)?.seq]).to.deep.equal([0, undefined, 3499]);
    expect(rows.total).to.equal(3500);
  });

  it('stays within its limits in characters, but for what is in view', () => {
    const rows = new LogRows({ lines: 1e6, chars: 1_000_000 });
    for (let seq = 0; seq < 5000; seq += 1) rows.add([line(seq, 'x'.repeat(1000))]);
    expect(rows.count).to.be.within(500, 1000);
    expect(rows.get(4999)).to.not.equal(undefined);
  });

  it('shows the beginning of a very long line, and all of it when asked', () => {
    const row = toRow(line(0, '漢'.repeat(CUT_CHARS + 1)));
    expect([row.isCut, row.cells]).to.deep.equal([true, 2 * CUT_CHARS]);
    const shown = () => toSegments(row, '漢').reduce((sum, { text }) => sum + text.length, 0);
    expect(shown()).to.equal(CUT_CHARS);
    showAll(row);
    expect([row.isCut, row.cells, shown()]).to.deep.equal([false, 2 * CUT_CHARS + 2, CUT_CHARS + 1]);
  });
});

describe('countCells', () => {
  it('counts wide characters double and never too few', () => {
    expect(['abc', 'é', '漢字', '█', '🎉'].map(countCells)).to.deep.equal([3, 1, 4, 1, 2]);
  });
});

describe('LogLayout', () => {
  const widths = (...cells: number[]) => cells.map((count, seq) => toRow(line(seq, 'x'.repeat(count))));

  it('gives each row one line when nothing wraps', () => {
    const layout = layOutPartials(widths(5, 500, 0), null);
    expect([layout.lineTotal, layout.maxCells]).to.deep.equal([3, 500]);
  });

  it('gives a wrapped row as many lines as it needs', () => {
    const layout = layOutPartials(widths(5, 25, 0, 10, 11), 10);
    expect([0, 1, 2, 3, 4].map((at) => layout.linesOf(at))).to.deep.equal([1, 3, 1, 1, 2]);
    expect(layout.lineTotal).to.equal(8);
  });

  it('gives a cut row one more, for what shows the rest', () => {
    expect(layOutPartials(widths(CUT_CHARS * 2), 100).lineTotal).to.equal(CUT_CHARS / 100 + 1);
  });

  it('finds the rows in a window', () => {
    const layout = layOutPartials(widths(5, 25, 0, 10, 11), 10);
    expect(layout.window(2, 4)).to.deep.equal({ first: 1, end: 3, above: 1 });
    expect(layout.window(-50, 0)).to.deep.equal({ first: 0, end: 1, above: 0 });
    expect(layout.window(7, 99)).to.deep.equal({ first: 4, end: 5, above: 6 });
    expect(new LogLayout(10).window(0, 40)).to.deep.equal({ first: 0, end: 0, above: 0 });
  });

  it('counts a row that is not here as one line, until it was here once', () => {
    const layout = new LogLayout(10);
    layout.count = 2000;
    const tall = toRow(line(0, 'x'.repeat(30)));
    const rowAt = (position: number) => (position < 500 ? tall : undefined);
    expect(layout.measure(0, 10, rowAt)).to.equal(true);
    expect(layout.measure(0, 10, rowAt)).to.equal(false);
    expect([layout.lineTotal, layout.startOf(500), layout.positionAt(1500)]).to.deep.equal([3000, 1500, 500]);
    layout.measure(0, 10, () => undefined);
    expect(layout.lineTotal).to.equal(3000);
  });

  it('grows with the log', () => {
    const layout = new LogLayout(10);
    const tall = toRow(line(0, 'x'.repeat(20)));
    for (const count of [1, 499, 500, 501, 1200]) {
      layout.count = count;
      layout.measure(0, count, () => tall);
      expect(layout.lineTotal).to.equal(2 * count);
    }
  });
});

describe('LogSpace', () => {
  it('is all lines, or those of a list', () => {
    const all = new LogSpace(null, 10, 0);
    expect([all.count, all.seqAt(3), all.positionOf(3), all.positionOf(99)]).to.deep.equal([10, 3, 3, 10]);
    const some = new LogSpace([2, 5, 9], 10, 0);
    expect([some.count, some.seqAt(1), some.positionOf(5), some.positionOf(6)]).to.deep.equal([3, 5, 1, 2]);
  });

  it('is a part of a log that is too long to scroll', () => {
    const total = 3 * MAX_LINES_SHOWN;
    const base = baseAround(MAX_LINES_SHOWN, total);
    const part = new LogSpace(null, total, base);
    expect([part.count, part.length]).to.deep.equal([MAX_LINES_SHOWN, total]);
    expect(part.positionOf(MAX_LINES_SHOWN)).to.equal(MAX_LINES_SHOWN / 2);
    expect(part.seqAt(MAX_LINES_SHOWN / 2)).to.equal(MAX_LINES_SHOWN);
    expect([baseAround(5, total), baseAround(total, total), baseAround(5, 10)]).to.deep.equal([
      0,
      2 * MAX_LINES_SHOWN,
      0,
    ]);
  });

  it('finds where a number is or would be', () => {
    expect([0, 2, 3, 9, 10].map((value) => firstAtOrAfter([2, 5, 9], value))).to.deep.equal([0, 0, 1, 2, 3]);
  });
});

describe('LogScan', () => {
  const toScan = ({ seq, stream, text }: LogLine): ScanLine => ({ seq, isError: stream === 'stderr', text });
  const isOdd = ({ seq }: ScanLine): boolean => seq % 2 === 1;
  const nothing = () => undefined;
  async function* inBatches(all: readonly LogLine[], size: number, signal?: AbortSignal) {
    for (let at = 0; at < all.length && !signal?.aborted; at += size) {
      await Promise.resolve();
      yield all.slice(at, at + size).map(toScan);
    }
  }

  it('finds what passes, from the first line on', async () => {
    const scan = new LogScan(isOdd, nothing);
    await scan.read(() => inBatches(lines(0, 9), 2));
    expect([scan.found, scan.isDone, scan.readTo]).to.deep.equal([[1, 3, 5, 7], true, 9]);
  });

  it('takes lines that come meanwhile and afterwards once, in order', async () => {
    const scan = new LogScan(isOdd, nothing);
    const reading = scan.read(() => inBatches(lines(0, 6), 2));
    scan.add(lines(4, 8).map(toScan));
    expect(scan.found).to.deep.equal([]);
    await reading;
    scan.add(lines(7, 10).map(toScan));
    expect(scan.found).to.deep.equal([1, 3, 5, 7, 9]);
  });

  it('stops when told, and keeps what it has', async () => {
    const scan = new LogScan(isOdd, nothing);
    const reading = scan.read(async function* (signal) {
      for await (const batch of inBatches(lines(0, 100), 10, signal)) {
        yield batch;
        if (batch[0]?.seq === 20) scan.stop();
      }
    });
    await reading;
    expect([scan.isDone, scan.readTo, scan.found.length]).to.deep.equal([true, 30, 15]);
  });

  it('says why it could not go on', async () => {
    const scan = new LogScan(isOdd, nothing);
    const failure = new Error('gone');
    await scan.read(async function* () {
      yield lines(0, 2).map(toScan);
      throw failure;
    });
    expect([scan.error, scan.found, scan.isDone]).to.deep.equal([failure, [1], true]);
  });
});

describe('toSegments', () => {
  const cut = (text: string, needle: string) =>
    toSegments(toRow(line(0, text)), needle).map((segment) => [segment.text, segment.isMatch, segment.color]);

  it('marks each match, whatever its case', () => {
    expect(cut('Loss and loss', 'loss')).to.deep.equal([
      ['Loss', true, null],
      [' and ', false, null],
      ['loss', true, null],
    ]);
  });

  it('marks a match across a change of colour', () => {
    expect(cut('a\u001b[31mbc\u001b[0md', 'bcd')).to.deep.equal([
      ['a', false, null],
      ['bc', true, 1],
      ['d', true, null],
    ]);
  });

  it('marks matches that touch', () => {
    expect(cut('aaaa', 'aa').map(([piece, isMarked]) => [piece, isMarked])).to.deep.equal([
      ['aa', true],
      ['aa', true],
    ]);
  });

  it('marks the right letters behind a character whose lower case is longer', () => {
    expect(cut('İİİİ Needle after', 'needle')).to.deep.equal([
      ['İİİİ ', false, null],
      ['Needle', true, null],
      [' after', false, null],
    ]);
    const row = toRow(line(0, 'İİİİ Needle after'));
    expect(cellsBefore(row, 'needle')).to.equal(5);
    expect(isMatch(row, toLowerCase('İ NEEDLE'))).to.equal(true);
  });

  it('compares texts of the same length, whatever characters they have', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const text = String.fromCodePoint(code);
      if (toLowerCase(text).length !== text.length) expect.fail(`U+${code.toString(16)}`);
    }
  });
});
