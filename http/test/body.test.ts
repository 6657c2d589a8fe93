import { MIB } from '@svc/contract';
import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { BodyShare, readBody } from '../src/body.js';
import { HttpError } from '@svc/validation';

describe('the bodies of all requests', () => {
  const shares: BodyShare[] = [];
  afterEach(() => shares.splice(0).forEach((share) => share.release()));

  function share(bytes = 0): BodyShare {
    const made = new BodyShare();
    shares.push(made);
    made.add(bytes);
    return made;
  }

  function receive(text: string, limitBytes: number, into: BodyShare) {
    const request = Object.assign(Readable.from([Buffer.from(text)]), { headers: {} });
    return readBody(request as unknown as IncomingMessage, limitBytes, into);
  }

  async function refusalOf(work: Promise<unknown>): Promise<HttpError> {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(HttpError);
    return error as HttpError;
  }

  it('hold at most 256 MiB until they are answered; what is beyond is to come again', async () => {
    const first = share(200 * MIB);
    const second = share(56 * MIB - 10);
    expect((await receive('0123456789', 100, share())).toString()).to.equal('0123456789');
    const refusal = await refusalOf(receive('x', 100, share()));
    expect([refusal.code, refusal.headers]).to.deep.equal(['unavailable', { 'Retry-After': '1' }]);
    second.release();
    second.release();
    expect((await receive('x', 100, share())).toString()).to.equal('x');
    first.release();
    share(199 * MIB);
  });

  it('hold nothing of one that is refused', async () => {
    for (let times = 0; times < 300; times += 1) {
      const refusal = await refusalOf(receive('x'.repeat(MIB), MIB - 1, share()));
      expect(refusal.code).to.equal('payload_too_large');
    }
    share(256 * MIB);
  });
});
