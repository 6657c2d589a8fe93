import { expect } from 'chai';
import { measureJson, parseJson } from '../src/json.js';

const parse = (text: string) => parseJson(Buffer.from(text));

describe('JSON from outside', () => {
  it('has no more parts than are counted, and in a usual text not many fewer', () => {
    const partsOf = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 1;
      const names = Array.isArray(value) ? 0 : Object.keys(value).length;
      return Object.values(value).reduce<number>((sum, inner) => sum + partsOf(inner), 1 + names);
    };
    for (const value of [
      7,
      'a,b:c',
      [],
      [1, 2, [3]],
      { a: { b: ['x,y', null] }, c: -1.5e-7 },
      [[], {}, [{}]],
    ]) {
      const { parts } = measureJson(Buffer.from(JSON.stringify(value)));
      expect(parts, JSON.stringify(value)).to.be.within(partsOf(value), 2 * partsOf(value) + 1);
    }
  });

  it('is taken as any JSON is', () => {
    for (const value of [1, 'é\n"\\', null, [true, { a: [] }], { '': { x: 1e300 } }])
      expect(parse(JSON.stringify(value))).to.deep.equal(value);
    expect(() => parse('{')).to.throw(SyntaxError);
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).to.throw(TypeError);
  });

  it('ends a string of any length at its own quote, whatever is escaped in it', () => {
    const partsOf = (text: string) => measureJson(Buffer.from(`[${JSON.stringify(text)},1,{}]`)).parts;
    for (const text of ['"', '\\', '\\"', '"\\', '\\\\"', ',', '[', 'é'])
      for (let length = 0; length < 140; length += 1) {
        const long = 'x'.repeat(length);
        for (const each of [long + text, text + long, text.repeat(length), long + text + long + text])
          expect(partsOf(each), JSON.stringify(each)).to.equal(partsOf(''));
      }
    expect(measureJson(Buffer.from(`["${'x'.repeat(200)}`)).parts).to.equal(2);
  });

  it('is refused before it is parsed when it has too many parts', () => {
    const tooMany = [
      `[${'{},'.repeat(110_000)}0]`,
      `[${'1,'.repeat(210_000)}1]`,
      `{${Array.from({ length: 110_000 }, (_, index) => `"f${index}":1`).join()}}`,
      `[${Array.from({ length: 10_000 }, () => `0.${'1'.repeat(800)}`).join()}]`,
    ];
    for (const text of tooMany) expect(() => parse(text)).to.throw('more than 200000 values');
  });

  it('takes a full batch of points, written with line breaks too', () => {
    const point = { seq: 10_000, name: 'train/loss', step: 10_000, value: -1.2345678901234567e-100, ts: 1.7e12, epoch: 0.1234567890123456 }; // prettier-ignore
    const batch = { points: Array.from({ length: 10_000 }, () => point) };
    for (const text of [JSON.stringify(batch), JSON.stringify(batch, null, 8)])
      expect(parse(text)).to.deep.equal(batch);
  });

  it('is refused when it nests too deep, naming the field', () => {
    const nested = (levels: number) => `{"a":1,"b":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(parse(nested(64))).to.have.property('a', 1);
    for (const levels of [65, 400, 1_000_000])
      expect(() => parse(nested(levels))).to.throw(/^b: must not nest more than 64 levels deep$/);
    expect(() => parse('['.repeat(16_000_000))).to.throw(/^must not nest more than 64 levels deep$/);
    for (const text of ['[[', '\\"[[', '\\\\'])
      expect(parse(`{"${text.repeat(100)}":1}`)).to.have.property(
        JSON.parse(`"${text.repeat(100)}"`) as string,
      );
  });
});
