import { expect } from 'chai';
import { describeRows } from './row.js';
import { ROUTE_ROWS, UNKNOWN_FIELDS } from './rows/routes.js';

describeRows('what is largest, deepest and strangest for each route', ROUTE_ROWS);

describe('the cases of the routes', () => {
  it('know a field of every route that takes a body', () => expect(UNKNOWN_FIELDS).to.deep.equal([]));
});
