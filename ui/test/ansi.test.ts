import { expect } from 'chai';
import fc from 'fast-check';
import { parseAnsi, stripAnsi } from '../src/ansi.js';

const look = (text: string): unknown[] => parseAnsi(text).map((span) => [span.text, span.color, span.isBold]);

describe('parseAnsi', () => {
  it('reads colours, bold and their ends', () => {
    expect(look('a\u001b[1;31mred\u001b[0m b')).to.deep.equal([
      ['a', null, false],
      ['red', 1, true],
      [' b', null, false],
    ]);
  });

  it('reads bright colours, and 39 as the plain one', () => {
    expect(look('\u001b[92mok\u001b[39m.')).to.deep.equal([
      ['ok', 10, false],
      ['.', null, false],
    ]);
  });

  it('brings 256 and true colours to the palette', () => {
    expect(
      look('\u001b[38;5;196mx\u001b[38;2;0;200;0my\u001b[38;5;3mz').map((span) => (span as unknown[])[1]),
    ).to.deep.equal([9, 2, 3]);
  });

  it('does not take a background for a foreground', () => {
    expect(look('\u001b[48;5;1;32mx')).to.deep.equal([['x', 2, false]]);
  });

  it('drops cursor moves, titles and links', () => {
    expect(
      stripAnsi('\u001b[2K\u001b[1Ga\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c\u001b]8;;\u001b\\'),
    ).to.equal('abc');
  });

  it('drops control characters, keeps text', () => {
    expect(stripAnsi('a\u0000b\u0007c é 漢')).to.equal('abc é 漢');
  });

  it('puts tabs at their stops', () => {
    expect(stripAnsi('a\tb')).to.equal('a       b');
  });

  it('joined, is the stripped text, whatever comes', () => {
    const piece = fc.constantFrom(
      '\u001b[',
      '31m',
      '0;1m',
      '\u001b]0;',
      '\u0007',
      'text',
      '\t',
      '38;5;',
      '\u001b',
      'm',
      '999999m',
      'ü',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        expect(
          parseAnsi(text)
            .map((span) => span.text)
            .join(''),
        ).to.equal(stripAnsi(text));
        expect(stripAnsi(text)).not.to.include('\u001b');
      }),
    );
  });
});
