import { createClient, endpoint, type SseEvent } from '@svc/client';
import type { routes } from '@svc/contract';
import { expect } from 'chai';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LiveStream, type StreamState } from '../src/data/live-stream.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const EVENTS = endpoint<typeof routes.streamEvents>('GET', '/events/stream');
const OPEN = { 'content-type': 'text/event-stream' };
const send =
  (text: string): Answer =>
  (_request, response) =>
    response.writeHead(200, OPEN).end(text);

describe('LiveStream', () => {
  let server: Server;
  let url: string;
  let answers: Answer[];
  let seenIds: (string | undefined)[];
  let stream: LiveStream<typeof routes.streamEvents>;

  beforeEach(async () => {
    answers = [];
    seenIds = [];
    server = createServer((request, response) => {
      seenIds.push(request.headers['last-event-id'] as string | undefined);
      answers.shift()!(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    stream.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens the stream; resolves with all it gave once `isDone` says so of a state. */
  function follow(isDone: (state: StreamState) => boolean, onEvents: () => void = () => undefined) {
    const ids: (string | null)[] = [];
    const states: StreamState[] = [];
    return new Promise<{ ids: (string | null)[]; states: StreamState[] }>((resolve) => {
      const listener = {
        onEvents: (events: readonly SseEvent[]) => {
          ids.push(...events.map(({ id }) => id));
          onEvents();
        },
        onState: (state: StreamState) => {
          states.push(state);
          if (isDone(state)) resolve({ ids, states });
        },
      };
      stream = new LiveStream(createClient({ url, token: null }), EVENTS, {}, listener, '4');
      stream.resume();
    });
  }

  it('ends when the server says so, and does not begin again', async () => {
    answers = [send('id: 5\ndata: a\n\nevent: end\ndata: {}\n\n')];
    const seen = await follow((state) => state === 'ended');
    stream.resume();
    expect(seen).to.deep.equal({ ids: ['5'], states: ['connecting', 'live', 'ended'] });
    expect(seenIds).to.deep.equal(['4']);
  });

  it('fails for good where it is refused', async () => {
    answers = [(_request, response) => response.writeHead(404).end()];
    const { states } = await follow((state) => state === 'failed');
    expect(states).to.deep.equal(['connecting', 'failed']);
  });

  it('pauses and resumes where it was', async () => {
    answers = [
      (_request, response) => response.writeHead(200, OPEN).write('id: 9\ndata: a\n\n'),
      send('event: end\ndata: {}\n\n'),
    ];
    const { states } = await follow(
      (state) => {
        if (state === 'paused') setImmediate(() => stream.resume());
        return state === 'ended';
      },
      () => setImmediate(() => stream.pause()),
    );
    expect(seenIds).to.deep.equal(['4', '9']);
    expect(states).to.deep.equal(['connecting', 'live', 'paused', 'connecting', 'live', 'ended']);
  });
});
