import type { MetricPoint, Run } from '@svc/contract';
import type { SseMessage, SseStream } from '@svc/kernel';
import { fakeClock, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { LivePoints } from '../src/live-points.js';

const RUN = { id: 'run_1', job_id: null, attempt: null } as Run;

describe('live points', () => {
  let clock: FakeClock;
  let live: LivePoints;
  beforeEach(() => {
    clock = fakeClock();
    live = new LivePoints(clock);
  });

  it('go out at once, then gathered into at most 10 messages a second', async () => {
    const client = new Client();
    live.follow(RUN, null, client);
    for (let seq = 0; seq < 1000; seq += 1) {
      live.publish(RUN.id, [point(seq)]);
      await clock.advance(1);
    }
    expect(client.messages.length).to.be.within(9, 11);
    await live.end(RUN.id);
    expect(client.seqs).to.deep.equal(Array.from({ length: 1000 }, (_, seq) => seq));
    expect(client.messages.at(-1)?.id).to.equal(999);
    expect(client.hasEnded).to.equal(true);
  });

  it('wait for a slow client, which loses the oldest and gets the newest', async () => {
    const client = new Client();
    live.follow(RUN, null, client);
    client.block();
    live.publish(RUN.id, [point(0)]);
    await clock.advance(0);
    for (let start = 1; start < 30_000; start += 1000) {
      live.publish(
        RUN.id,
        Array.from({ length: 1000 }, (_, index) => point(start + index)),
      );
      await clock.advance(100);
    }
    expect(client.messages).to.have.length(1);
    client.unblock();
    await clock.advance(5000);
    expect(client.seqs.length).to.equal(10_001);
    expect(client.seqs.at(-1)).to.equal(30_000);
    for (const { data } of client.messages) expect(JSON.stringify(data).length).to.be.lessThan(128 * 1024);
    expect(client.messages.length).to.be.within(5, 15);
  });

  it('go out in several messages when the run ends before all has been sent', async () => {
    const client = new Client();
    live.follow(RUN, null, client);
    live.publish(
      RUN.id,
      Array.from({ length: 5000 }, (_, seq) => ({ ...point(seq), name: 'ü'.repeat(250) })),
    );
    await live.end(RUN.id);
    expect(client.seqs.length).to.equal(5000);
    for (const { data } of client.messages)
      expect(Buffer.byteLength(JSON.stringify(data))).to.be.lessThan(128 * 1024);
    expect(client.hasEnded).to.equal(true);
  });

  it('stop when the client has gone', async () => {
    const client = new Client();
    live.follow(RUN, new Set(['loss']), client);
    live.publish(RUN.id, [point(0), { ...point(1), name: 'other' }]);
    client.leave();
    live.publish(RUN.id, [point(2)]);
    await clock.advance(1000);
    expect(client.messages).to.deep.equal([]);
  });
});

/** The client's end of a stream. */
class Client implements SseStream {
  readonly lastEventId = null;
  readonly messages: SseMessage[] = [];
  hasEnded = false;
  private readonly gone = new AbortController();
  private blocked: Promise<void> = Promise.resolve();
  unblock: () => void = () => undefined;

  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get seqs(): number[] {
    return this.messages.flatMap(({ data }) =>
      (data as { points: MetricPoint[] }).points.map(({ seq }) => seq),
    );
  }

  block(): void {
    this.blocked = new Promise((resolve) => (this.unblock = resolve));
  }

  write(message: SseMessage): Promise<void> {
    this.messages.push(message);
    return this.blocked;
  }

  end(): void {
    this.hasEnded = true;
  }

  leave(): void {
    this.gone.abort();
  }
}

function point(seq: number) {
  return { seq, name: 'loss', step: seq, value: seq, ts: 1 };
}
