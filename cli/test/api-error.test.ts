import { ApiError } from '@svc/client';
import { expect } from 'chai';
import { toSentence } from '../src/output/api-error.js';

const url = 'http://127.0.0.1:1';
const sentenceOf = (facts: Omit<ConstructorParameters<typeof ApiError>[0], 'url'>) =>
  toSentence(new ApiError({ ...facts, url }));

describe('what a request has failed of, in a line', () => {
  it('says how to start a server that is not there', () => {
    expect(sentenceOf({ code: 'network', message: 'no answer' })).to.equal(
      `cannot reach ${url}: is the server running? start it with: svc up`,
    );
  });

  it('names every refused field', () => {
    const errors = [
      { path: 'comand', message: 'is not a field' },
      { path: '', message: 'is too large' },
    ];
    const facts = { code: 'validation_error', message: '2 fields', status: 422 } as const;
    expect(sentenceOf({ ...facts, details: { errors } })).to.equal('comand: is not a field; is too large');
    expect(sentenceOf({ ...facts, details: { errors: errors.slice(1) } })).to.equal('2 fields');
  });

  it('says what a token lacks', () => {
    expect(sentenceOf({ code: 'unauthorized', message: 'no token', status: 401 })).to.equal(
      `no token (svc login ${url} saves a valid one; or set SVC_TOKEN)`,
    );
    const none = { code: 'unauthorized', message: 'send the header', status: 401, hadToken: false } as const;
    expect(sentenceOf(none)).to.equal(
      `no token is saved for ${url}: svc login ${url} saves one; or set SVC_TOKEN`,
    );
    expect(sentenceOf({ code: 'forbidden', message: 'needs write', status: 403 })).to.equal(
      'not allowed: needs write',
    );
  });

  it('is not misled by a server that is another', () => {
    expect(sentenceOf({ code: 'unreadable', message: '?', status: 404 })).to.equal(
      `${url} answered 404, and not as svc does`,
    );
    expect(sentenceOf({ code: 'unreadable', message: '?', status: 200 })).to.equal(
      `what ${url} answered is no JSON, or broke off: is it an svc server?`,
    );
  });
});
