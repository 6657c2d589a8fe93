import { createToken } from '@svc/plugin-auth';
import { expect } from 'chai';
import { toUrl } from '../src/adapter/index.js';
import { Lab, connect } from './support/lab.js';

const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const CALL = { method: 'tools/call', params: { name: 'list_jobs', arguments: {} } };

describe('a request of MCP', function () {
  this.timeout(60_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.open();
  });
  after(() => lab.close());

  const send = async (body: unknown, token = lab.tokens['read'], headers: Record<string, string> = {}) => {
    const response = await fetch(`${lab.adapter.url}/mcp`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        ...headers,
      },
    });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers of every shape
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const rpc = (message: object) => ({ jsonrpc: '2.0', id: 1, ...message });

  it('with an unknown or an expired token is answered 401, whatever it asks', async () => {
    const draft = { name: 'old', scope: 'read', expires_at: 1 } as const;
    const expired = (await createToken(lab.kernel.db, draft, Date.now())).token;
    for (const token of ['bogus', expired])
      for (const message of [
        INITIALIZE,
        { method: 'ping' },
        { method: 'prompts/list' },
        { method: 'tools/list' },
        CALL,
      ]) {
        const response = await send(rpc(message), token);
        expect(response.status, message.method).to.equal(401);
        expect(response.headers.get('www-authenticate')).to.equal(
          'Bearer realm="svc", error="invalid_token"',
        );
        expect(response.body.error.message).to.include('svc token create');
      }
    expect((await send(rpc(INITIALIZE))).status).to.equal(200);
    expect((await send(rpc(CALL))).status).to.equal(200);
    const refused = await connect(lab.adapter.url, 'svc_read_unknown').catch(String);
    expect(refused).to.include('svc token create');
  });

  it('is no batch of a version without batches, and no large one', async () => {
    const batch = (size: number) => Array.from({ length: size }, (_, id) => ({ ...rpc(CALL), id }));
    expect((await send(batch(10))).body).to.have.length(10);
    expect((await send(batch(11))).status).to.equal(422);
    const later = await send(batch(2), undefined, { 'mcp-protocol-version': '2025-06-18' });
    expect([later.status, later.body.error.message].join(' ')).to.match(/^422 .*has no batches/);
  });

  it('for the prompts names the ids as they are', async () => {
    const { prompts } = (await send(rpc({ method: 'prompts/list' }))).body.result;
    const described = prompts.map((prompt: any) => prompt.arguments[0].description); // eslint-disable-line @typescript-eslint/no-explicit-any
    expect(described).to.deep.equal(['Id (run_...).', 'Id (exp_...).', 'Id (job_...).']);
  });

  it('goes to an address that a client can use, also of IPv6', () => {
    expect(toUrl('::1', 9000)).to.equal('http://[::1]:9000');
    expect(toUrl('0.0.0.0', 9000)).to.equal('http://127.0.0.1:9000');
  });

  it('with parameters of a wrong form says which ones', async () => {
    const wrong: [string, object, string][] = [
      ['tools/call', { name: 'list_jobs', arguments: [] }, 'params.arguments'],
      ['tools/call', {}, 'params.name'],
      ['tasks/get', { taskId: 5 }, 'params.taskId'],
      ['prompts/get', { name: 5 }, 'params.name'],
      ['resources/read', {}, 'params.uri'],
    ];
    for (const [method, params, named] of wrong) {
      const answer = (await send(rpc({ method, params }))).body;
      expect([answer.id, answer.error.code], method).to.deep.equal([1, -32602]);
      expect(answer.error.message).to.include(`${method} has wrong parameters: ${named}: `);
    }
  });
});
