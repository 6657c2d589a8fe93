import { HttpError } from '@svc/kernel';
import { expect } from 'chai';
import { isDatabaseOutage } from '../src/database-outage.js';

describe('an error of the database', () => {
  const withCode = (code: string) => Object.assign(new Error('x'), { code });

  it('is an outage when the database is at fault', () => {
    for (const code of [
      '57P01',
      '53300',
      '08006',
      '40001',
      'SQLITE_BUSY',
      'SQLITE_FULL',
      'SQLITE_IOERR_WRITE',
      'ECONNREFUSED',
      'ENOSPC',
    ])
      // prettier-ignore
      expect(isDatabaseOutage(withCode(code)), code).to.equal(true);
    expect(isDatabaseOutage(new Error('Connection terminated unexpectedly'))).to.equal(true);
    expect(isDatabaseOutage(new HttpError('unavailable', 'later'))).to.equal(true);
  });

  it('is none when what was to be stored is', () => {
    for (const code of [
      '22021',
      '23505',
      '22003',
      'SQLITE_CONSTRAINT',
      'SQLITE_TOOBIG',
      'ERR_INVALID_ARG_TYPE',
    ])
      expect(isDatabaseOutage(withCode(code)), code).to.equal(false);
    expect(isDatabaseOutage(new TypeError('x is not a function'))).to.equal(false);
  });
});
