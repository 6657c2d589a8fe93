import { routes } from '@svc/contract';
import { expect } from 'chai';
import { ApiError, createClient, endpoint, type Client } from '../src/index.js';
import { refusal, withServer, type Answer } from './scripted-server.js';

const LIST_NODES = endpoint<typeof routes.listNodes>('GET', '/nodes');

async function errorOf(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(ApiError);
  return error as ApiError;
}

const ask = (client: Client) => client.call(routes.listNodes);

describe('the client', () => {
  it('sends parameters, query, token and body as the route says, and leaves out what is not given', async () => {
    const seen: unknown[] = [];
    const answer: Answer = ({ url, method, headers }, response) => {
      seen.push([method, url, headers.authorization, headers['content-type']]);
      response.writeHead(200).end('{}');
    };
    await withServer([answer, answer], async (url) => {
      const client = createClient({ url, token: 't' });
      const query = { tail: 5, search: 'ä &', attempt: null, stream: undefined };
      await client.call(routes.tailLogs, { params: { job_id: 'a/b?c' }, query });
      await client.call(routes.submitJob, { body: { command: ['true'] } });
    });
    expect(seen).to.deep.equal([
      ['GET', '/api/v1/jobs/a%2Fb%3Fc/logs?tail=5&search=%C3%A4+%26', 'Bearer t', undefined],
      ['POST', '/api/v1/jobs', 'Bearer t', 'application/json'],
    ]);
  });

  it('takes an endpoint without schemas in the place of a route', async () => {
    const answer: Answer = (request, response) => response.end(JSON.stringify({ items: [request.url] }));
    await withServer([answer], async (url) => {
      const { items } = await createClient({ url, token: null }).call(LIST_NODES, { query: { limit: 3 } });
      expect(items).to.deep.equal(['/api/v1/nodes?limit=3']);
    });
  });

  it('gives the error of the contract, and tells whoever wants to know of refusals', async () => {
    const errors = [{ path: 'command', message: 'is missing' }];
    const heard: ApiError[] = [];
    await withServer([refusal(422, 'validation_error', { errors })], async (url) => {
      const client = createClient({ url, token: 't' }, { onRefused: (error) => heard.push(error) });
      const error = await errorOf(ask(client));
      expect(error).to.include({ code: 'validation_error', message: 'the reason', status: 422, url });
      expect(error.issues).to.deep.equal(errors);
      expect(error.isFinal).to.equal(true);
      expect(heard).to.deep.equal([error]);
    });
  });

  it('tells whether a record is there, and why it may not ask', async () => {
    const present: Answer = (_request, response) => response.end();
    const absent: Answer = (_request, response) => response.writeHead(404).end();
    const route = endpoint<typeof routes.getSnapshot>('GET', '/snapshots/{sha256}');
    const denied = refusal(401, 'unauthorized');
    await withServer([present, absent, denied, denied], async (url) => {
      const { has } = createClient({ url, token: 't' });
      const input = { params: { sha256: 'a' } };
      expect(await has(route, input)).to.equal(true);
      expect(await has(route, input)).to.equal(false);
      const error = await errorOf(has(route, input));
      expect(error).to.include({ code: 'unauthorized', message: 'the reason', status: 401 });
    });
  });

  it('is not misled by a server that is another', async () => {
    const page: Answer = (_request, response) => response.writeHead(502).end('<html>Bad gateway</html>');
    const text: Answer = (_request, response) => response.end('hello');
    await withServer([page, text], async (url) => {
      const client = createClient({ url, token: null });
      const refused = await errorOf(ask(client));
      expect(refused).to.include({ code: 'unreadable', message: 'The server answered 502.', status: 502 });
      expect(await errorOf(ask(client))).to.include({ code: 'unreadable', status: 200 });
    });
  });

  it('says so when there is no answer, or none in time', async () => {
    const silent: Answer = () => undefined;
    let gone = '';
    await withServer([silent], async (url) => {
      gone = url;
      const client = createClient({ url, token: null }, { timeoutMs: 20 });
      expect(await errorOf(ask(client))).to.include({ code: 'network', status: 0, isFinal: false });
    });
    const error = await errorOf(ask(createClient({ url: gone, token: null })));
    expect(error).to.include({ code: 'network', status: 0, url: gone });
    expect(error.hint).to.match(/svc up/);
  });

  it('throws what its caller has aborted it with, as it is', async () => {
    const silent: Answer = () => undefined;
    await withServer([silent], async (url) => {
      const reason = new Error('no longer wanted');
      const signal = AbortSignal.abort(reason);
      const client = createClient({ url, token: null }, { timeoutMs: 60_000 });
      const error = await client.call(routes.listNodes, { signal }).catch((thrown: unknown) => thrown);
      expect(error).to.equal(reason);
    });
  });
});
