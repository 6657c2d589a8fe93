import { expect } from 'chai';
import fc from 'fast-check';
import { countOf, isIn, joinRanges, toRanges } from '../src/seq-ranges.js';

const anySeqs = fc.array(fc.oneof(fc.nat(60), fc.maxSafeNat()), { maxLength: 60 });

describe('seq ranges', () => {
  it('hold exactly what a set would', () => {
    fc.assert(
      fc.property(anySeqs, anySeqs, (stored, asked) => {
        const ranges = toRanges(stored);
        for (const seq of [...stored, ...asked]) expect(isIn(ranges, seq)).to.equal(stored.includes(seq));
      }),
    );
  });

  it('count what a set would', () => {
    fc.assert(
      fc.property(anySeqs, (seqs) => {
        expect(countOf(toRanges(seqs))).to.equal(new Set(seqs).size);
      }),
    );
  });

  it('never touch each other, and ascend', () => {
    fc.assert(
      fc.property(anySeqs, (seqs) => {
        const ranges = toRanges(seqs);
        ranges.slice(1).forEach(({ from }, index) => expect(from).to.be.above((ranges[index]?.to ?? 0) + 1));
      }),
    );
  });

  it('join to the ranges of all numbers', () => {
    fc.assert(
      fc.property(anySeqs, anySeqs, (a, b) => {
        expect(joinRanges([...toRanges(a), ...toRanges(b)])).to.deep.equal(toRanges([...a, ...b]));
      }),
    );
  });

  it('of a process that counts on from a random base are one', () => {
    const base = 2 ** 52 + 12_345;
    const seqs = Array.from({ length: 1000 }, (_, index) => base + index);
    expect(toRanges(seqs)).to.deep.equal([{ from: base, to: base + 999 }]);
  });
});
