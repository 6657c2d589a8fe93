import type { LogLine } from '@svc/contract';
import { expect } from 'chai';
import { LogBuffer, countCells } from '../src/log/log-buffer.js';
import { LogLayout } from '../src/log/log-layout.js';
import { LogMatches } from '../src/log/log-matches.js';
import { toSegments } from '../src/log/log-search.js';

const line = (seq: number, text = `line ${seq}`, stream: LogLine['stream'] = 'stdout'): LogLine => ({
  seq,
  stream,
  ts: seq,
  text,
});
const lines = (from: number, to: number): LogLine[] =>
  Array.from({ length: to - from }, (_, at) => line(from + at));

describe('LogBuffer', () => {
  it('takes each line once, by seq', () => {
    const buffer = new LogBuffer();
    buffer.append(lines(0, 5));
    buffer.append(lines(3, 8));
    expect(buffer.rows.map((row) => row.seq)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('says where lines are missing, and not that the first ones are', () => {
    const buffer = new LogBuffer();
    buffer.append(lines(10, 12));
    buffer.append(lines(20, 21));
    expect(buffer.rows.map((row) => [row.seq, row.gap])).to.deep.equal([
      [10, 0],
      [11, 0],
      [20, 8],
      [20, 0],
    ]);
  });

  it('stays within its limits in lines, giving up the oldest', () => {
    const buffer = new LogBuffer({ lines: 100, chars: 1e9 });
    const removed = buffer.append(lines(0, 250));
    expect(buffer.rows.length).to.be.at.most(100);
    expect(buffer.rows.at(-1)?.seq).to.equal(249);
    expect(buffer.rows[0]?.index).to.equal(removed);
  });

  it('stays within its limits in characters', () => {
    const buffer = new LogBuffer({ lines: 1e6, chars: 1000 });
    for (let seq = 0; seq < 50; seq += 1) buffer.append([line(seq, 'x'.repeat(100))]);
    expect(buffer.rows.reduce((sum, row) => sum + row.text.length, 0)).to.be.at.most(1000);
  });
});

describe('countCells', () => {
  it('counts wide characters double and never too few', () => {
    expect(['abc', 'é', '漢字', '█', '🎉'].map(countCells)).to.deep.equal([3, 1, 4, 1, 2]);
  });
});

describe('LogLayout', () => {
  const rows = (...widths: number[]) => {
    const buffer = new LogBuffer();
    buffer.append(widths.map((width, seq) => line(seq, 'x'.repeat(width))));
    return buffer.rows;
  };

  it('gives each row one line when nothing wraps', () => {
    const layout = new LogLayout(rows(5, 500, 0), null);
    expect([layout.lineTotal, layout.maxCells]).to.deep.equal([3, 500]);
  });

  it('gives a wrapped row as many lines as it needs', () => {
    const layout = new LogLayout(rows(5, 25, 0, 10, 11), 10);
    expect([0, 1, 2, 3, 4].map((at) => layout.linesOf(at))).to.deep.equal([1, 3, 1, 1, 2]);
    expect(layout.lineTotal).to.equal(8);
  });

  it('finds the rows in a window', () => {
    const layout = new LogLayout(rows(5, 25, 0, 10, 11), 10);
    expect(layout.window(2, 4)).to.deep.equal({ first: 1, end: 3, above: 1 });
    expect(layout.window(-50, 0)).to.deep.equal({ first: 0, end: 1, above: 0 });
    expect(layout.window(7, 99)).to.deep.equal({ first: 4, end: 5, above: 6 });
    expect(new LogLayout([], 10).window(0, 40)).to.deep.equal({ first: 0, end: 0, above: 0 });
  });
});

describe('LogMatches', () => {
  it('finds more as lines come, and forgets those that went', () => {
    const buffer = new LogBuffer({ lines: 100, chars: 1e9 });
    const matches = new LogMatches();
    buffer.append(lines(0, 50));
    matches.update(buffer.rows, 'line 1', 'all');
    expect(matches.found).to.deep.equal([1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    buffer.append(lines(50, 112));
    const gone = matches.update(buffer.rows, 'line 1', 'all');
    expect(gone).to.equal(11);
    expect(matches.found).to.deep.equal([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111]);
  });

  it('starts over with another question', () => {
    const buffer = new LogBuffer();
    buffer.append(lines(0, 3));
    const matches = new LogMatches();
    matches.update(buffer.rows, 'line', 'all');
    matches.update(buffer.rows, 'line 2', 'all');
    expect(matches.found).to.deep.equal([2]);
    matches.update(buffer.rows, '', 'all');
    expect(matches.found).to.deep.equal([]);
  });
});

describe('toSegments', () => {
  const row = (text: string) => {
    const buffer = new LogBuffer();
    buffer.append([line(0, text)]);
    return buffer.rows[0]!;
  };
  const cut = (text: string, needle: string) =>
    toSegments(row(text), needle).map(({ text: piece, isMatch, color }) => [piece, isMatch, color]);

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
    expect(cut('aaaa', 'aa').map(([piece, isMatch]) => [piece, isMatch])).to.deep.equal([
      ['aa', true],
      ['aa', true],
    ]);
  });
});
