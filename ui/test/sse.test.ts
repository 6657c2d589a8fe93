import { expect } from 'chai';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../src/data/api.js';
import type { SseEvent } from '../src/data/sse-parser.js';
import { EventStream, retryDelayMs, type StreamState } from '../src/data/sse.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

describe('EventStream', () => {
  let server: Server;
  let url: string;
  let answers: Answer[];
  let seenIds: (string | undefined)[];
  let stream: EventStream | null;

  beforeEach(async () => {
    answers = [];
    seenIds = [];
    stream = null;
    server = createServer((request, response) => {
      seenIds.push(request.headers['last-event-id'] as string | undefined);
      answers.shift()!(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  afterEach(async () => {
    stream?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens the stream; resolves with all it gave once it is in one of the states. */
  function follow(
    until: readonly StreamState[],
    lastEventId?: string,
  ): Promise<{ events: SseEvent[]; states: StreamState[] }> {
    const events: SseEvent[] = [];
    const states: StreamState[] = [];
    return new Promise((resolve) => {
      stream = new EventStream({
        connect: async (headers, signal) => {
          const response = await fetch(url, { headers, signal });
          if (!response.ok) throw new ApiError('refused', 'no', response.status);
          return response;
        },
        onEvents: (arrived) => events.push(...arrived),
        onState: (state) => {
          states.push(state);
          if (until.includes(state)) resolve({ events, states });
        },
        random: () => 0,
        ...(lastEventId === undefined ? {} : { lastEventId }),
      });
      stream.resume();
    });
  }

  const send =
    (text: string): Answer =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(text);
    };
  const refuse =
    (status: number): Answer =>
    (_, response) => {
      response.writeHead(status).end();
    };

  it('ends when the server says so', async () => {
    answers = [send('id: 1\ndata: a\n\nevent: end\ndata: {}\n\n')];
    const { events, states } = await follow(['ended']);
    expect(events.map(({ data }) => data)).to.deep.equal(['a']);
    expect(states).to.deep.equal(['connecting', 'live', 'ended']);
  });

  it('resumes by the last id after a drop', async () => {
    answers = [
      send('retry: 1\nid: 5\ndata: a\n\n'),
      (_, response) => response.destroy(),
      send('retry: 1\nid: 6\ndata: b\n\nevent: end\ndata: {}\n\n'),
    ];
    const { events } = await follow(['ended'], '4');
    expect(seenIds).to.deep.equal(['4', '5', '5']);
    expect(events.map(({ id }) => id)).to.deep.equal(['5', '6']);
  });

  it('gives up on a refusal that will not change, and goes on after one that may', async () => {
    answers = [refuse(503), refuse(429), refuse(404)];
    const { states } = await follow(['failed']);
    expect(states).to.deep.equal(['connecting', 'waiting', 'connecting', 'waiting', 'connecting', 'failed']);
  });

  it('pauses and resumes where it was', async () => {
    answers = [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('id: 9\ndata: a\n\n');
      },
      send('event: end\ndata: {}\n\n'),
    ];
    await new Promise<void>((resolve) => {
      stream = new EventStream({
        connect: (headers, signal) => fetch(url, { headers, signal }),
        onEvents: () => setImmediate(() => stream!.pause()),
        onState: (state) => {
          if (state === 'paused') stream!.resume();
          if (state === 'ended') resolve();
        },
      });
      stream.resume();
    });
    expect(seenIds).to.deep.equal([undefined, '9']);
  });

  it('takes silence past the heartbeats for a dead connection', async () => {
    const mute: Answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    };
    // On a busy machine the first answers may themselves come too late.
    answers = Array.from({ length: 10 }, () => mute);
    const states: StreamState[] = [];
    await new Promise<void>((resolve) => {
      stream = new EventStream({
        connect: (headers, signal) => fetch(url, { headers, signal }),
        onEvents: () => {},
        onState: (state) => {
          states.push(state);
          if (state === 'waiting' && states.at(-2) === 'live') resolve();
        },
        silenceMs: 20,
      });
      stream.resume();
    });
    expect(states.slice(-3)).to.deep.equal(['connecting', 'live', 'waiting']);
  });

  it('waits longer with every failure, up to 15 s, spread over the upper half', () => {
    expect([0, 1, 2, 20].map((failures) => retryDelayMs(failures, 1))).to.deep.equal([
      500, 1000, 2000, 15_000,
    ]);
    expect(retryDelayMs(3, 0)).to.equal(2000);
  });
});
