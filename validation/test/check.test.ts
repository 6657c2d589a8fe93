import { Name, routes } from '@svc/contract';
import { expect } from 'chai';
import { Type } from 'typebox';
import { refuse, type HttpError } from '../src/errors.js';
import { compileCheck } from '../src/check.js';

const strict = { additionalProperties: false };
/** Far more than any of these takes, and far less than what grows with the square of its size. */
const SOON_MS = 2000;

describe('what is wrong with a value', () => {
  const check = compileCheck(Type.Object({ points: Type.Array(point(), { maxItems: 10_000 }) }, strict));

  function point() {
    const value = Type.Union([Type.Number(), Type.Enum(['NaN', 'Infinity'])]);
    return Type.Object({ seq: Type.Integer(), name: Type.String({ maxLength: 250 }), value }, strict);
  }

  /** How many are listed and how many are not. */
  function countOf(value: unknown): [listed: number, more: number] {
    const startedAt = performance.now();
    const { length, more = 0 } = check(value);
    expect(performance.now() - startedAt).to.be.below(SOON_MS);
    return [length, more];
  }

  const good = { seq: 0, name: 'loss', value: 1 };
  const batch = (of: (index: number) => unknown, count = 10_000) => ({
    points: Array.from({ length: count }, (_, index) => of(index)),
  });

  it('is listed up to 20 mistakes, and counted beyond', () => {
    expect(countOf(batch(() => null))).to.deep.equal([20, 9980]);
    expect(countOf(batch(() => ({ ...good, value: null })))).to.deep.equal([20, 9980]);
    expect(countOf(batch(() => ({})))).to.deep.equal([20, 29_980]);
    expect(countOf(batch((index) => (index % 2 ? good : null), 50))).to.deep.equal([20, 5]);
    expect(countOf(batch((index) => (index % 2 ? good : null), 40))).to.deep.equal([20, 0]);
  });

  it('names the first of them', () => {
    const [first, second] = check(batch((index) => (index % 3 ? good : { ...good, value: 'nan' })));
    expect(first).to.deep.equal({
      path: 'points[0].value',
      message: 'must be a number or one of NaN, Infinity',
    });
    expect(second?.path).to.equal('points[3].value');
  });

  it('is the length of a list before anything that is in it', () => {
    const mistakes = check(batch(() => ({}), 10_001));
    expect([...mistakes]).to.deep.equal([{ path: 'points', message: 'must have at most 10000 items' }]);
  });

  it('is the number of entries of a map before anything that is in it', () => {
    const env = compileCheck(Type.Record(Type.String(), Type.String(), { maxProperties: 2 }));
    const wrong = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`V${index}`, 1]));
    expect([...env(wrong)]).to.deep.equal([{ path: '', message: 'must have at most 2 entries' }]);
  });

  it('is found in any number of unknown fields, and in the longest of names and texts', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, 1]));
    expect(countOf({ points: [{ ...good, ...many }] })).to.deep.equal([20, 99_980]);
    const [mistake] = check({ points: [{ ...good, ['x'.repeat(1_000_000)]: 1 }] });
    expect(mistake?.path).to.have.length.below(200);
    expect(countOf({ points: [{ ...good, name: 'x'.repeat(16_000_000) }] })).to.deep.equal([1, 0]);
  });

  it('is a number that is past what a number can hold', () => {
    const { points } = JSON.parse('{"points":[{"seq":0,"name":"a","value":1e999}]}') as { points: unknown[] };
    expect([...check({ points })]).to.deep.equal([
      { path: 'points[0].value', message: 'must be a number or one of NaN, Infinity' },
    ]);
  });

  it('is counted in characters, not in their halves', () => {
    const three = compileCheck(Type.String({ minLength: 3, maxLength: 3 }));
    for (const text of ['abc', '💥💥💥', 'a💥c']) expect(three(text), text).to.have.length(0);
    for (const text of ['ab', 'a💥', '💥💥', 'abcd', '💥💥💥💥', 'abc💥'])
      expect(three(text), text).to.have.length(1);
  });

  it('is told of a text by its length, and once when it is too short for its form too', () => {
    const name = compileCheck(Name);
    const tell = (text: string) => name(text).map(({ message }) => message);
    expect(tell('')).to.deep.equal(['must not be empty']);
    expect(tell('💥'.repeat(250))).to.deep.equal(['must have at most 200 characters, not 250']);
    expect(tell('x'.repeat(300_000))).to.deep.equal(['must have at most 200 characters, not over 100000']);
    expect(tell('\n'.repeat(250))).to.have.length(2);
    expect(tell('a\nb')[0]).to.match(/^is malformed: /);
  });

  it('is told once where several alternatives say the same, and where keywords are not looked into', () => {
    const either = Type.Union([
      Type.Object({ kind: Type.Literal('a'), id: Type.String(), list: Type.Array(Type.Integer()) }, strict),
      Type.Object({ kind: Type.Literal('b'), id: Type.String() }, strict),
    ]);
    const tell = (value: unknown) =>
      compileCheck(either)(value).map(({ path, message }) => `${path} ${message}`);
    expect(tell({ kind: 'a', id: 'x', list: [1, 'y'] })).to.deep.equal([
      'list[1] must be an integer, not a string',
    ]);
    expect(tell({})).to.deep.equal(['kind is required', 'id is required', 'list is required']);
    expect(tell({ kind: 'c', id: 'x' })).to.deep.equal([' must be an object']);
    const few = compileCheck(Type.Object({}, { maxProperties: 1, additionalProperties: true }));
    expect(few({ a: 1, b: 2 })).to.have.length(1);
    const distinct = compileCheck(Type.Array(Type.String(), { uniqueItems: true }));
    expect([...distinct(['a', 'a'])]).to.deep.equal([{ path: '', message: 'must not have an item twice' }]);
  });

  it('is answered with the count of what is not listed', () => {
    const answer = (value: unknown) => {
      try {
        refuse(check(value));
        return null;
      } catch (error) {
        return error as HttpError;
      }
    };
    expect(answer(batch(() => good, 3))).to.equal(null);
    expect(answer(batch(() => null))?.message).to.equal(
      '20 fields were refused; 9980 more mistakes are not listed',
    );
    expect(answer(batch(() => null))?.details).to.have.property('more', 9980);
    expect(answer(batch(() => null, 20))?.details).to.have.all.keys('errors');
  });

  it('of points is as the contract has it', () => {
    const points = Array.from({ length: 10_000 }, () => null);
    const mistakes = compileCheck(routes.writePoints.body)({ points });
    expect([mistakes.length, mistakes.more]).to.deep.equal([20, 9980]);
  });
});
