import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { routes } from '@svc/contract';
import { expect } from 'chai';
import { ApiError } from '../src/api/api-error.js';
import { createClient } from '../src/api/client.js';
import type { SseEvent } from '../src/api/sse-parser.js';
import { followStream } from '../src/api/stream.js';
import { Failure } from '../src/failure.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that gives one answer after another to the requests that come. */
async function withServer(answers: Answer[], use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => answers.shift()?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const stream =
  (text: string): Answer =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);

const refusal =
  (status: number, code: string): Answer =>
  (_request, response) =>
    response.writeHead(status).end(JSON.stringify({ error: { code, message: 'the reason', details: {} } }));

async function dataOf(events: AsyncIterable<SseEvent>): Promise<string[]> {
  const all: string[] = [];
  for await (const { data } of events) all.push(data);
  return all;
}

const params = { job_id: 'job_1' };

describe('followStream', () => {
  it('reads to the end event', async () => {
    await withServer(
      [stream('id: 1\ndata: a\n\nid: 2\ndata: b\n\nevent: end\ndata: {}\n\nid: 3\ndata: c\n\n')],
      async (url) => {
        const events = await dataOf(
          followStream(createClient({ url, token: 't' }), routes.streamLogs, { params }),
        );
        expect(events).to.deep.equal(['a', 'b']);
      },
    );
  });

  it('comes back from the last id after a cut and an outage, and says so once', async () => {
    const asked: (string | undefined)[] = [];
    const note =
      (answer: Answer): Answer =>
      (request, response) => {
        asked.push(request.headers['last-event-id'] as string | undefined);
        answer(request, response);
      };
    const cut: Answer = (_request, response) => {
      response.writeHead(200).write('id: 1\ndata: a\n\nid: 2\nda');
      response.socket?.destroySoon();
    };
    const answers = [
      cut,
      refusal(503, 'unavailable'),
      stream('id: 2\ndata: b\n\n'),
      stream('event: end\ndata: {}\n\n'),
    ];
    const outages: string[] = [];
    await withServer(answers.map(note), async (url) => {
      const options = { params, onOutage: (reason: string) => outages.push(reason) };
      const events = await dataOf(
        followStream(createClient({ url, token: 't' }), routes.streamLogs, options),
      );
      expect(events).to.deep.equal(['a', 'b']);
    });
    expect(asked).to.deep.equal([undefined, '1', '1', '2']);
    expect(outages).to.have.length(1);
  });

  it('gives up at once what the server refuses', async () => {
    await withServer([refusal(404, 'not_found')], async (url) => {
      const events = followStream(createClient({ url, token: 't' }), routes.streamLogs, { params });
      const error = await events.next().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(ApiError).with.property('message', 'the reason');
    });
  });

  it('ends when asked to', async () => {
    const open: Answer = (_request, response) => response.writeHead(200).write('data: a\n\n');
    await withServer([open], async (url) => {
      const detach = new AbortController();
      const seen: string[] = [];
      const options = { params, signal: detach.signal };
      for await (const { data } of followStream(
        createClient({ url, token: 't' }),
        routes.streamLogs,
        options,
      )) {
        seen.push(data);
        detach.abort();
      }
      expect(seen).to.deep.equal(['a']);
    });
  });
});

describe('the client', () => {
  it('says how to start a server that is not there', async () => {
    let gone = '';
    await withServer([], (url) => Promise.resolve(void (gone = url)));
    const error = await createClient({ url: gone, token: null })
      .call(routes.listNodes)
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Failure);
    expect((error as Failure).message).to.equal(
      `cannot reach ${gone}: is the server running? start it with: svc up`,
    );
  });

  it('names every refused field in one line', async () => {
    const errors = [
      { path: 'comand', message: 'is not a field' },
      { path: 'command', message: 'is missing' },
    ];
    const answer: Answer = (_request, response) =>
      response
        .writeHead(422)
        .end(
          JSON.stringify({ error: { code: 'validation_error', message: '2 fields', details: { errors } } }),
        );
    await withServer([answer], async (url) => {
      const call = createClient({ url, token: 't' }).call(routes.submitJob, { body: { command: ['true'] } });
      const error = await call.catch((reason: unknown) => reason);
      expect((error as ApiError).message).to.equal('comand: is not a field; command: is missing');
    });
  });

  it('sends parameters, query, token and body as the route says', async () => {
    const seen: { url?: string | undefined; auth?: string | undefined; method?: string | undefined }[] = [];
    const answer: Answer = ({ url, method, headers }, response) => {
      seen.push({ url, method, auth: headers.authorization });
      response.writeHead(200).end('{}');
    };
    await withServer([answer], async (url) => {
      const client = createClient({ url, token: 't' });
      await client.call(routes.tailLogs, { params: { job_id: 'a/b?c' }, query: { tail: 5, search: 'ä &' } });
    });
    expect(seen).to.deep.equal([
      { url: '/api/v1/jobs/a%2Fb%3Fc/logs?tail=5&search=%C3%A4+%26', method: 'GET', auth: 'Bearer t' },
    ]);
  });

  it('is not misled by a server that is another', async () => {
    const page: Answer = (_request, response) => response.writeHead(404).end('<html>');
    await withServer([page], async (url) => {
      const error = await createClient({ url, token: null })
        .call(routes.listNodes)
        .catch((reason: unknown) => reason);
      expect((error as ApiError).message).to.equal(`${url} answered 404, and not as svc does`);
    });
  });
});
