import { routes } from '@svc/contract';
import { expect } from 'chai';
import { ApiError, createClient, follow, retryDelayMs, type FollowOptions } from '../src/index.js';
import { refusal, stream, withServer, type Answer } from './scripted-server.js';

function followAt(url: string, options: FollowOptions = {}) {
  const client = createClient({ url, token: 't' });
  return follow(client, routes.streamLogs, { params: { job_id: 'job_1' } }, options);
}

/** Reads to the end; the data of the events, and the states with the messages of what was lost. */
async function readAll(url: string, options: FollowOptions = {}) {
  const data: string[] = [];
  const states: string[] = [];
  const onState: FollowOptions['onState'] = (state, error) => {
    states.push(error === undefined ? state : `${state}: ${(error as Error).message}`);
  };
  for await (const events of followAt(url, { onState, ...options }))
    data.push(...events.map((one) => one.data));
  return { data, states };
}

describe('follow', () => {
  it('reads to the end event', async () => {
    const text = 'id: 1\ndata: a\n\nid: 2\ndata: b\n\nevent: end\ndata: {}\n\nid: 3\ndata: c\n\n';
    await withServer([stream(text)], async (url) => {
      expect(await readAll(url)).to.deep.equal({ data: ['a', 'b'], states: ['connecting', 'live'] });
    });
  });

  it('comes back from the last id after a cut, an outage and an orderly close', async () => {
    const asked: unknown[] = [];
    const note =
      (answer: Answer): Answer =>
      (request, response) => {
        asked.push(request.headers['last-event-id']);
        answer(request, response);
      };
    const cut: Answer = (_request, response) => {
      response.writeHead(200).write('retry: 1\nid: 5\ndata: a\n\nid: 6\nda');
      response.socket?.destroySoon();
    };
    const answers = [
      cut,
      refusal(503, 'unavailable'),
      stream('retry: 1\n: heartbeat\n\nid: 6\ndata: b\n\n'),
      stream('event: end\ndata: {}\n\n'),
    ];
    await withServer(answers.map(note), async (url) => {
      const { data, states } = await readAll(url, { lastEventId: '4' });
      expect(data).to.deep.equal(['a', 'b']);
      expect(states.map((state) => state.replace('terminated', 'cut'))).to.deep.equal([
        'connecting',
        'live',
        'waiting: cut',
        'connecting',
        'waiting: the reason',
        'connecting',
        'live',
        'waiting',
        'connecting',
        'live',
      ]);
    });
    expect(asked).to.deep.equal(['4', '5', '5', '6']);
  });

  it('gives up at once what the server refuses, and waits where it may change its mind', async () => {
    await withServer([refusal(429, 'rate_limited'), refusal(404, 'not_found')], async (url) => {
      const error = await followAt(url)
        .next()
        .catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(ApiError).with.property('code', 'not_found');
    });
  });

  it('ends when asked to, also while nothing comes', async () => {
    const open: Answer = (_request, response) => response.writeHead(200).write('data: a\n\n');
    await withServer([open, open], async (url) => {
      const detach = new AbortController();
      const seen: string[] = [];
      for await (const events of followAt(url, { signal: detach.signal })) {
        seen.push(...events.map(({ data }) => data));
        setImmediate(() => detach.abort());
      }
      expect(seen).to.deep.equal(['a']);
      for await (const _events of followAt(url)) break;
    });
  });

  it('takes silence past the heartbeats for a dead connection', async () => {
    const mute: Answer = (_request, response) => response.writeHead(200).flushHeaders();
    await withServer(
      [mute],
      async (url) => {
        const enough = new AbortController();
        const { states } = await readAll(url, {
          signal: enough.signal,
          silenceMs: 20,
          onState: (state, error) => {
            if (state !== 'waiting') return;
            expect((error as Error).message).to.equal('no heartbeat');
            enough.abort();
          },
        });
        expect(states).to.deep.equal([]);
      },
      { isRepeated: true },
    );
  });

  it('waits longer from cut to cut while no connection lasts', async () => {
    const askedAtMs: number[] = [];
    const cut: Answer = (_request, response) => {
      askedAtMs.push(performance.now());
      response.writeHead(200).write(': heartbeat\n\n');
      response.socket?.destroySoon();
    };
    const end: Answer = (request, response) => {
      askedAtMs.push(performance.now());
      stream('event: end\ndata: {}\n\n')(request, response);
    };
    await withServer([cut, cut, cut, end], async (url) => {
      await readAll(url);
    });
    expect(askedAtMs[3]! - askedAtMs[2]!).to.be.at.least(0.5 * 1000 - 10);
  });

  it('waits longer with every failure, up to 5 s, spread over the upper half', () => {
    expect([0, 1, 2, 20].map((failures) => retryDelayMs(failures, 1))).to.deep.equal([250, 500, 1000, 5000]);
    expect(retryDelayMs(2, 0)).to.equal(500);
  });
});
