import { expect } from 'chai';
import { isDatabaseOutage } from '../src/db/outage.js';
import { Issues, toHttpError, type HttpError } from '../src/errors.js';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe('an error of the database', () => {
  it('is an outage when the database is at fault, and is answered by 503', () => {
    const codes =
      '57P01 53300 53100 08006 08003 40001 SQLITE_BUSY SQLITE_BUSY_SNAPSHOT SQLITE_FULL SQLITE_IOERR SQLITE_IOERR_WRITE';
    const system = 'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOSPC EIO';
    for (const code of `${codes} ${system}`.split(' ')) {
      expect(isDatabaseOutage(withCode(code)), code).to.equal(true);
      expect(toHttpError(withCode(code), 'r').code, code).to.equal('unavailable');
    }
  });

  it('is an outage when the connection is lost, for which pg has no code', () => {
    for (const message of ['Connection terminated unexpectedly', 'Connection terminated']) {
      expect(isDatabaseOutage(new Error(message))).to.equal(true);
      expect(toHttpError(new Error(message), 'r').code).to.equal('unavailable');
    }
  });

  it('is none when what was to be stored is', () => {
    const codes = '22021 23505 22003 42P01 SQLITE_CONSTRAINT SQLITE_TOOBIG ERR_INVALID_ARG_TYPE ENOENT';
    for (const code of codes.split(' ')) {
      expect(isDatabaseOutage(withCode(code)), code).to.equal(false);
      expect(toHttpError(withCode(code), 'r').code, code).to.equal('internal');
    }
    for (const error of [new TypeError('x is not a function'), new Error('no connection string'), null, 'x'])
      expect(isDatabaseOutage(error)).to.equal(false);
  });

  it('that fills the disk is told as that', () => {
    for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', '53100'])
      expect(toHttpError(withCode(code), 'r').message).to.contain('disk is full');
  });
});

describe('collected mistakes', () => {
  const refusal = (count: number): HttpError => {
    const issues = new Issues();
    for (let at = 0; at < count; at += 1) issues.add(`f${at}`, 'is wrong');
    try {
      issues.throwIfAny();
    } catch (error) {
      return error as HttpError;
    }
    throw new Error('nothing was thrown');
  };

  it('are all listed up to 20', () => {
    const { message, details } = refusal(20);
    expect(message).to.equal('20 fields were refused');
    expect(details).to.have.keys(['errors']);
    expect(details['errors']).to.have.length(20);
    expect(() => new Issues().throwIfAny()).to.not.throw();
  });

  it('beyond 20 are counted', () => {
    const { message, details } = refusal(1_000);
    expect(message).to.equal('20 fields were refused; 980 more mistakes are not listed');
    expect(details['errors']).to.have.length(20);
    expect(details['more']).to.equal(980);
  });
});
