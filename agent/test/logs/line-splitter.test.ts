import { MAX_LINE_BYTES } from '@svc/contract/protocol';
import { expect } from 'chai';
import fc from 'fast-check';
import { LineSplitter, type Lines } from '../../src/logs/line-splitter.js';

interface Line {
  text: string;
  end: number;
}

function toList({ texts, ends }: Lines): Line[] {
  return texts.map((text, index) => ({ text, end: ends[index] as number }));
}

function split(chunks: readonly Buffer[], offset = 0): Line[] {
  const splitter = new LineSplitter(offset);
  const lines = chunks.flatMap((chunk) => toList(splitter.push(Buffer.from(chunk))));
  return [...lines, ...toList(splitter.flush())];
}

function texts(input: string | Buffer): string[] {
  return split([Buffer.from(input)]).map(({ text }) => text);
}

/** The rules once more, byte by byte and without regard to speed or memory. */
function model(data: Buffer): Line[] {
  const lines: Line[] = [];
  let text: number[] = [];
  let returned = false;
  const add = (end: number, bytes: number[]) =>
    lines.push({ text: Buffer.from(bytes).toString('utf8'), end });
  data.forEach((byte, index) => {
    if (byte === 0x0d) {
      returned = true;
    } else if (byte === 0x0a) {
      add(index + 1, text);
      [text, returned] = [[], false];
    } else {
      if (returned) [text, returned] = [[], false];
      if (text.length === MAX_LINE_BYTES) {
        const all = [...text, byte];
        let cut = MAX_LINE_BYTES;
        while (cut > MAX_LINE_BYTES - 3 && ((all[cut] as number) & 0xc0) === 0x80) cut -= 1;
        if (((all[cut] as number) & 0xc0) === 0x80) cut = MAX_LINE_BYTES;
        add(index - MAX_LINE_BYTES + cut, all.slice(0, cut));
        text = all.slice(cut);
      } else {
        text.push(byte);
      }
    }
  });
  if (text.length > 0) add(data.length, text);
  return lines;
}

/** `unit` so many times: what is long is told shortly, so that a failure can be read. */
interface Piece {
  unit: string | readonly number[];
  times: number;
}

const once = (unit: fc.Arbitrary<Piece['unit']>): fc.Arbitrary<Piece> =>
  fc.record({ unit, times: fc.constant(1) });
const aroundLimit: fc.Arbitrary<Piece> = fc
  .tuple(
    fc.constantFrom('x', 'é', '漢', '😀'),
    fc.integer({ min: -5, max: 5 }),
    fc.integer({ min: 1, max: 2 }),
  )
  .map(([unit, off, limits]) => ({
    unit,
    times: Math.ceil((MAX_LINE_BYTES * limits + off) / Buffer.byteLength(unit)),
  }));
const pieces = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: once(fc.string({ maxLength: 20, unit: 'grapheme' })) },
    { weight: 4, arbitrary: once(fc.constantFrom('\n', '\r', '\r\n', '\r\r', '\n\n')) },
    { weight: 2, arbitrary: once(fc.array(fc.nat(255), { maxLength: 8 })) },
    { weight: 1, arbitrary: aroundLimit },
  ),
  { maxLength: 12 },
);

function toBytes(list: readonly Piece[]): Buffer {
  const toPiece = (unit: Piece['unit']) =>
    typeof unit === 'string' ? Buffer.from(unit) : Buffer.from([...unit]);
  return Buffer.concat(list.flatMap(({ unit, times }) => new Array<Buffer>(times).fill(toPiece(unit))));
}

/** Not by deep equality of the lists themselves: a difference is to be told in a line. */
function toDigest(lines: readonly Line[]): string[] {
  return lines.map(({ text, end }) => `${end}: ${text.slice(0, 20)}…${text.slice(-20)} (${text.length})`);
}

function chunked(data: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (data.length + 1)).sort((a, b) => a - b), data.length];
  return at.slice(1).map((end, index) => data.subarray(at[index] as number, end));
}

describe('line splitter', () => {
  it('cuts at LF and CR LF, and keeps empty lines', () => {
    expect(texts('a\nb\r\n\n\r\nc\n')).to.deep.equal(['a', 'b', '', '', 'c']);
  });

  it('gives a partial last line at the end alone', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('a\nbc')).texts).to.deep.equal(['a']);
    expect(splitter.flush()).to.deep.equal({ texts: ['bc'], ends: [4] });
    expect(splitter.flush().texts).to.deep.equal([]);
  });

  it('leaves the last state of a progress bar', () => {
    expect(texts('\r 0%|    |\r50%|##  |\r100%|####|\nnext\n')).to.deep.equal(['100%|####|', 'next']);
    expect(texts('\r50%|##  |\r')).to.deep.equal(['50%|##  |']);
  });

  it('keeps a progress bar of any length to its last state, in bounded memory', () => {
    const splitter = new LineSplitter();
    for (let step = 0; step < 20_000; step += 1)
      expect(splitter.push(Buffer.from(`\r${step} of 20000`)).texts).to.deep.equal([]);
    expect(splitter.push(Buffer.from('\n')).texts).to.deep.equal(['19999 of 20000']);
  });

  it('splits a line that is too long, not within a character', () => {
    const [first = '', second = ''] = texts(`${'é'.repeat(MAX_LINE_BYTES / 2 - 1)}x漢y\n`);
    expect(Buffer.byteLength(first)).to.equal(MAX_LINE_BYTES - 1);
    expect(second).to.equal('漢y');
  });

  it('leaves a line of exactly the limit whole', () => {
    expect(texts(`${'x'.repeat(MAX_LINE_BYTES)}\n`)).to.have.length(1);
    expect(texts(`${'x'.repeat(MAX_LINE_BYTES + 1)}\n`)).to.deep.equal(['x'.repeat(MAX_LINE_BYTES), 'x']);
  });

  it('replaces invalid UTF-8', () => {
    expect(texts(Buffer.from([0x61, 0xff, 0x62, 0x0a]))).to.deep.equal(['a\ufffdb']);
  });

  it('agrees with the model for any bytes, however they are chunked', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(), { maxLength: 20 }), (list, cuts) => {
        const data = toBytes(list);
        expect(toDigest(split(chunked(data, cuts)))).to.deep.equal(toDigest(model(data)));
      }),
      { numRuns: 400 },
    );
  });

  it('goes on from the end of any line with the lines that follow', () => {
    fc.assert(
      fc.property(pieces, fc.nat(), (list, pick) => {
        const data = toBytes(list);
        const lines = split([data]);
        const index = lines.length === 0 ? 0 : pick % lines.length;
        const offset = lines[index]?.end ?? 0;
        const rest = split([data.subarray(offset)], offset);
        expect(toDigest(rest)).to.deep.equal(toDigest(lines.slice(lines.length === 0 ? 0 : index + 1)));
      }),
      { numRuns: 400 },
    );
  });
});
