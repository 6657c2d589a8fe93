import { expect } from 'chai';
import { Issues, type HttpError } from '../src/errors.js';

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
