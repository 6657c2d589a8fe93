import { routes } from '@svc/contract';
import { expect } from 'chai';

type Schema = Readonly<Record<string, unknown>>;

/** Every schema in it that has a pattern, with its place. */
function patternsIn(value: unknown, place: string): [place: string, schema: Schema][] {
  if (typeof value !== 'object' || value === null) return [];
  const schema = value as Schema;
  const inner = Object.entries(schema).flatMap(([name, part]) => patternsIn(part, `${place}.${name}`));
  const hasPattern = typeof schema['pattern'] === 'string' || typeof schema['patternProperties'] === 'object';
  return hasPattern ? [[place, schema], ...inner] : inner;
}

describe('a pattern in what a client sends', () => {
  it('has a description in words, which an error shows in its place', () => {
    const found = Object.values(routes).flatMap((route) => {
      const { id, body, query, params } = route as { id: string } & Schema;
      return patternsIn({ body, query, params }, id);
    });
    expect(found.length).to.be.greaterThan(20);
    const missing = found.filter(([, { description }]) => typeof description !== 'string');
    expect([...new Set(missing.map(([place]) => place))]).to.deep.equal([]);
  });
});
