import { routes, type RouteSpec } from '@svc/contract';
import { expect } from 'chai';
import { Value } from 'typebox/value';
import { ApiError, toApiError } from '../src/data/api.js';

describe('the answers of the server', () => {
  it('have fields, by which the console tells them from those of a proxy', () => {
    const schemas = (Object.values(routes) as unknown as RouteSpec[]).flatMap(({ id, answers = {} }) =>
      Object.values(answers).map((schema) => ({ id, schema })),
    );
    expect(schemas.length).to.be.greaterThan(50);
    const empty = schemas.filter(({ schema }) => [{}, [], null].some((value) => Value.Check(schema, value)));
    expect(empty.map(({ id }) => id)).to.deep.equal([]);
  });

  it('that have another shape are said to be so, and no error of the code is shown', () => {
    const error = toApiError(new TypeError("Cannot read properties of undefined (reading 'map')"));
    expect(error.message).to.contain('cannot be read');
    expect(error.isFinal).to.equal(false);
  });

  it('that are refusals keep their words, and so does an error of a plugin', () => {
    const refusal = new ApiError({ code: 'conflict', message: 'The run has ended.', status: 409 });
    expect(toApiError(refusal)).to.equal(refusal);
    expect(toApiError(new Error('No such board.')).message).to.equal('No such board.');
  });
});
