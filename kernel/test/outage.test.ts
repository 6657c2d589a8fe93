import { expect } from 'chai';
import { explainOutage, isDatabaseOutage } from '../src/db/outage.js';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe('an error of the database', () => {
  it('is an outage when the database is at fault, and is explained', () => {
    const codes =
      '57P01 53300 53100 08006 08003 40001 SQLITE_BUSY SQLITE_BUSY_SNAPSHOT SQLITE_FULL SQLITE_IOERR SQLITE_IOERR_WRITE';
    const system = 'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOSPC EIO';
    for (const code of `${codes} ${system}`.split(' ')) {
      expect(isDatabaseOutage(withCode(code)), code).to.equal(true);
      expect(explainOutage(withCode(code)), code).to.be.a('string');
    }
  });

  it('is an outage when the connection is lost, for which pg has no code', () => {
    for (const message of ['Connection terminated unexpectedly', 'Connection terminated']) {
      expect(isDatabaseOutage(new Error(message))).to.equal(true);
      expect(explainOutage(new Error(message))).to.be.a('string');
    }
  });

  it('is none when what was to be stored is', () => {
    const codes = '22021 23505 22003 42P01 SQLITE_CONSTRAINT SQLITE_TOOBIG ERR_INVALID_ARG_TYPE ENOENT';
    for (const code of codes.split(' ')) {
      expect(isDatabaseOutage(withCode(code)), code).to.equal(false);
      expect(explainOutage(withCode(code)), code).to.equal(null);
    }
    for (const error of [new TypeError('x is not a function'), new Error('no connection string'), null, 'x'])
      expect(isDatabaseOutage(error)).to.equal(false);
  });

  it('that fills the disk is told as that', () => {
    for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', '53100'])
      expect(explainOutage(withCode(code))).to.contain('disk is full');
  });
});
