import { route } from '@svc/contract';
import { created } from '../src/index.js';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { expect } from 'chai';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { plugin } from './support.js';

const LIMIT_BYTES = 100_000;
const upload = route({
  id: 'upload',
  method: 'POST',
  path: '/files',
  scope: 'none',
  summary: '',
  upload: 'application/gzip',
  bodyLimitBytes: LIMIT_BYTES,
  answers: { 201: Type.Unknown() },
});

describe('an upload', () => {
  let kernel: TestKernel;
  /** How the last reading ended. */
  let outcome: unknown;
  before(async () => {
    const receiver = plugin('receiver', ({ hooks, name }) =>
      hooks.routes.tap(name, (routes) =>
        routes.add(upload, async ({ body }) => {
          outcome = undefined;
          try {
            let bytes = 0;
            for await (const chunk of body) bytes += (chunk as Buffer).length;
            outcome = bytes;
            return created({ bytes });
          } catch (error) {
            outcome = error;
            throw error;
          }
        }),
      ),
    );
    kernel = await createTestKernel({ plugins: [receiver] });
  });
  after(() => kernel.close());

  function open(headers: Record<string, string | number> = {}): ClientRequest {
    const type = { 'content-type': 'application/gzip' };
    return request(`${kernel.url}/api/v1/files`, { method: 'POST', headers: { ...type, ...headers } });
  }
  async function answerOf(sent: ClientRequest): Promise<{ status: number; text: string }> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      sent.once('response', resolve).once('error', reject),
    );
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode ?? 0, text };
  }

  it('is read by the handler as it comes, up to the limit', async () => {
    const sent = open();
    sent.write(Buffer.alloc(LIMIT_BYTES - 1));
    sent.end('x');
    expect(await answerOf(sent)).to.deep.equal({ status: 201, text: `{"bytes":${LIMIT_BYTES}}` });
  });

  it('is refused by its length before anything of it is read', async () => {
    const sent = open({ 'content-length': LIMIT_BYTES + 1 });
    sent.flushHeaders();
    const { status, text } = await answerOf(sent);
    expect(status).to.equal(413);
    expect(text).to.contain('payload_too_large');
    sent.destroy();
  });

  it('is refused when more comes than the limit, whatever its length was said to be', async () => {
    const sent = open();
    sent.end(Buffer.alloc(LIMIT_BYTES + 1));
    expect((await answerOf(sent)).status).to.equal(413);
  });

  it('of another media type is refused with the right one', async () => {
    const sent = open({ 'content-type': 'application/json' });
    sent.end('{}');
    const { status, text } = await answerOf(sent);
    expect(status).to.equal(422);
    expect(text).to.contain('application/gzip');
  });

  it('that breaks off ends the reading with an error', async () => {
    const sent = open();
    sent.on('error', () => undefined);
    outcome = null;
    sent.write('some');
    await until(() => outcome === undefined);
    sent.destroy();
    await until(() => outcome instanceof Error);
  });
});
