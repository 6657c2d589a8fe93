import type { LogLine } from '@svc/contract';
import { expect } from 'chai';
import { KeptLines, NO_LINES } from '../src/error-index/kept-lines.js';

const line = (seq: number, text: string): LogLine => ({ seq, stream: 'stderr', ts: 1, text });
const range = (from: number, to: number, text: (seq: number) => string) =>
  Array.from({ length: to - from }, (_, index) => line(from + index, text(from + index)));

describe('failures: the lines that are kept of a log', () => {
  it('are bounded, however many errors a log has', () => {
    const kept = new KeptLines(NO_LINES);
    for (let at = 0; at < 10_000; at += 100) kept.add(range(at, at + 100, (seq) => `ValueError: ${seq}`));
    const { first, last, tail, to_seq } = kept.record;
    expect(to_seq).to.equal(10_000);
    expect(first[0]?.seq).to.equal(0);
    expect(first).to.have.length(50);
    expect(last.length).to.be.within(150, 300);
    expect(last.at(-1)?.seq).to.equal(9_999);
    expect(tail).to.have.length(50);
    expect(kept.lines.map(({ seq }) => seq)).to.deep.equal([...new Set(kept.lines.map(({ seq }) => seq))]);
  });

  it('have no usual line but the last', () => {
    const kept = new KeptLines(NO_LINES);
    kept.add(range(0, 1_000, (seq) => `step ${seq} loss 0.123 lr 3e-4 tokens/s 1234`));
    expect(kept.errors).to.deep.equal([]);
    expect(kept.lines[0]?.seq).to.equal(950);
  });

  it('have the frames of a traceback with their source lines', () => {
    const kept = new KeptLines(NO_LINES);
    kept.add(
      [
        'Traceback (most recent call last):',
        '  File "a.py", line 1, in f',
        '    step()',
        'my.Diverged: now',
        'step 2',
      ].map((text, seq) => line(seq, text)),
    );
    expect(kept.errors.map(({ seq }) => seq)).to.deep.equal([0, 1, 2, 3]);
  });

  it('are replaced when lines were rolled back and come again', () => {
    const kept = new KeptLines(NO_LINES);
    kept.add([line(0, 'ValueError: first'), line(1, 'ValueError: rolled back')]);
    kept.add([line(1, 'step 1'), line(2, 'KeyError: x')]);
    expect(kept.errors.map(({ text }) => text)).to.deep.equal(['ValueError: first', 'KeyError: x']);
  });

  it('are the same after they were stored', () => {
    const kept = new KeptLines(NO_LINES);
    kept.add(range(0, 300, (seq) => `ValueError: ${seq}`));
    expect(new KeptLines(JSON.parse(JSON.stringify(kept.record))).lines).to.deep.equal(kept.lines);
  });

  it('are found in a line of 1 MiB in linear time', () => {
    const kept = new KeptLines(NO_LINES);
    const pieces = [
      '[0]',
      '[rank0]: ',
      '  File "',
      '  File "", line 1',
      ' ',
      'Error',
      'nccl',
      'Timed ',
      'SIGA',
      'a',
      'the above ',
    ];
    const startedAt = performance.now();
    for (const [seq, piece] of pieces.entries())
      kept.add([line(seq, piece.repeat(1_048_576 / piece.length))]);
    expect(performance.now() - startedAt).to.be.below(3_000);
  });

  it('are cut when they are long', () => {
    const kept = new KeptLines(NO_LINES);
    kept.add([line(0, `ValueError: ${'x'.repeat(5_000)}`)]);
    expect(kept.errors[0]?.text).to.have.length(1_000);
  });
});
