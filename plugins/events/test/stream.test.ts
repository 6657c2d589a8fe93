import { newId, type EventDraft, type EventRecord } from '@svc/contract';
import type { Tx } from '@svc/kernel';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  until,
  type SseClient,
  type SseEvent,
  type TestKernel,
} from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';
import { observer } from './observer.js';

eachDatabase((database) => {
  describe('the stream of events', () => {
    let kernel: TestKernel;
    const clients: SseClient[] = [];
    before(async () => {
      kernel = await createTestKernel({ plugins: [events()], database });
    });
    afterEach(async () => {
      for (const client of clients.splice(0)) await client.close();
    });
    after(() => kernel.close());

    const append = (tx: Tx, draft: Partial<EventDraft> = {}) =>
      kernel.use(eventsRef).append(tx, { type: 'T', title: 't', ...draft });
    /** Resolves once it is published: a stream that is opened then does not show it. */
    async function happen(draft: Partial<EventDraft> = {}): Promise<EventRecord> {
      const record = await kernel.ctx.transaction((tx) => append(tx, draft));
      await until(() => kernel.db('events').where({ id: record.id }).whereNotNull('position').first());
      return record;
    }
    async function open(query = '', lastEventId?: string): Promise<SseClient> {
      const path = `/events/stream${query && `?${query}`}`;
      const client = await kernel.sse(path, {
        token: 'read',
        ...(lastEventId !== undefined && { lastEventId }),
      });
      clients.push(client);
      return client;
    }
    async function takeIds(client: SseClient, count: number): Promise<string[]> {
      const ids: string[] = [];
      while (ids.length < count) ids.push((await client.take()).data.id);
      return ids;
    }

    it('shows what happens from its opening on, each message with its id and no event name', async () => {
      await happen();
      const client = await open();
      expect(client.headers.get('content-type')).to.match(/^text\/event-stream/);
      const [one, two] = [await happen(), await happen({ message: 'two\nlines' })];
      const expected: SseEvent[] = [one, two].map((record) => ({ id: record.id, event: null, data: record }));
      expect([await client.take(), await client.take()]).to.deep.equal(expected);
    });

    it('resumes behind the event that the client has, with or without the prefix', async () => {
      const [first, second, third] = [await happen(), await happen(), await happen()];
      for (const lastEventId of [first.id, first.id.slice(4)]) {
        expect(await takeIds(await open('', lastEventId), 2)).to.deep.equal([second.id, third.id]);
      }
    });

    it('goes from what was missed over to what happens now', async () => {
      const [last, missed] = [await happen(), await happen()];
      const client = await open('', last.id);
      const live = await happen();
      expect(await takeIds(client, 2)).to.deep.equal([missed.id, live.id]);
    });

    it('does not take a client for one that does not read when much happens at once', async () => {
      const limits = { streamBytes: 1 };
      const other = await createTestKernel({ plugins: [events()], database, limits });
      const client = await other.sse('/events/stream', { token: 'read' });
      const drafts = Array.from({ length: 600 }, () => ({
        type: 'T',
        title: 't',
        message: 'x'.repeat(1000),
      }));
      await other.ctx.transaction(async (tx) => {
        for (const draft of drafts) await other.use(eventsRef).append(tx, draft);
      });
      expect(await takeIds(client, 600)).to.have.length(600);
      await client.close();
      await other.close();
    });

    it('resumes behind an event that is gone at what came after it', async () => {
      const gone = await happen();
      const next = await happen();
      await kernel.db('events').where({ id: gone.id }).delete();
      expect(await takeIds(await open('', gone.id), 1)).to.deep.equal([next.id]);
    });

    it('begins with the first event behind the least id, and with what happens next behind an id yet to come', async () => {
      const first = await kernel.db<{ id: string; position: number }>('events').orderBy('position').first();
      expect(await takeIds(await open('', `evt_${'0'.repeat(26)}`), 1)).to.deep.equal([first?.id]);
      const later = await open('', `evt_7${'Z'.repeat(25)}`);
      const next = await happen();
      expect(await takeIds(later, 1)).to.deep.equal([next.id]);
    });

    it('names the event that it begins behind: the last published one, whatever its time', async () => {
      const before = await happen();
      const late = await kernel.ctx.transaction((tx) =>
        kernel.use(eventsRef).append(tx, { type: 'T', title: 'late' }, Date.now() - 3_600_000),
      );
      await until(() => kernel.db('events').where({ id: late.id }).whereNotNull('position').first());
      expect((await open()).headers.get('Last-Event-ID')).to.equal(late.id);
      await kernel.db('events').where({ id: late.id }).delete();
      expect((await open()).headers.get('Last-Event-ID')).to.equal(before.id);
    });

    it('replays more than a page', async () => {
      const first = await happen();
      const records: EventRecord[] = [];
      await kernel.ctx.transaction(async (tx) => {
        for (let index = 0; index < 1203; index += 1) records.push(await append(tx));
      });
      expect(await takeIds(await open('', first.id), 1203)).to.deep.equal(records.map(({ id }) => id));
    });

    const refs = { run_id: newId('run'), job_id: newId('job'), node_id: newId('node') };
    const filters: [string, Partial<EventDraft>][] = [
      ['severity=critical', { severity: 'critical' }],
      ['type=LOSS_NAN', { type: 'LOSS_NAN' }],
      [`run_id=${refs.run_id}`, { run_id: refs.run_id }],
      [`job_id=${refs.job_id.slice(4)}`, { job_id: refs.job_id }],
      [`node_id=${refs.node_id}`, { node_id: refs.node_id }],
      [`severity=warning&run_id=${refs.run_id}`, { severity: 'warning', run_id: refs.run_id }],
    ];
    for (const [query, draft] of filters) {
      it(`shows only ${query}, live and replayed`, async () => {
        const start = await happen();
        const live = await open(query);
        await happen();
        await happen({ run_id: newId('run'), severity: 'info' });
        const wanted = [await happen(draft), await happen(draft)].map(({ id }) => id);
        expect(await takeIds(live, 2)).to.deep.equal(wanted);
        expect(await takeIds(await open(query, start.id), 2)).to.deep.equal(wanted);
      });
    }

    it('shows every event once and in one order to all, however clients and transactions come and go', async () => {
      const total = 150;
      const start = await happen();
      const steady = await open('', start.id);
      const seenBySteady = takeIds(steady, total);
      const hopping = hop(start.id, total);
      await Promise.all(Array.from({ length: total }, () => happen()));
      const order = await seenBySteady;
      expect(new Set(order).size).to.equal(total);
      expect(await hopping).to.deep.equal(order);
      expect(await takeIds(await open('', start.id), total)).to.deep.equal(order);
    });

    /** Reads like a client with a bad line: every few events it is cut, and resumes behind the last that it has. */
    async function hop(start: string, total: number): Promise<string[]> {
      const ids: string[] = [];
      while (ids.length < total) {
        const client = await open('', ids.at(-1) ?? start);
        ids.push(...(await takeIds(client, Math.min(7, total - ids.length))));
        await client.close();
      }
      return ids;
    }

    if (database.client === 'postgres') {
      it('never loses an event whose transaction commits after that of a later one', async () => {
        const start = await happen();
        let commit!: () => void;
        let early!: EventRecord;
        const slow = kernel.ctx.transaction(async (tx) => {
          early = await append(tx);
          await new Promise<void>((resolve) => (commit = resolve));
        });
        await until(() => commit);
        const late = await happen();
        const client = await open('', start.id);
        expect(await takeIds(client, 1)).to.deep.equal([late.id]);
        commit();
        await slow;
        expect(await takeIds(client, 1)).to.deep.equal([early.id]);
        expect(await takeIds(await open('', late.id), 1)).to.deep.equal([early.id]);
      });
    }

    it('answers 404 to a malformed Last-Event-ID', async () => {
      const headers = { 'Last-Event-ID': 'nonsense' };
      const answer = await kernel.request('GET', '/events/stream', { token: 'read', headers });
      expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'not_found']);
      expect(answer.body.error.message).to.include('Last-Event-ID');
    });
  });

  describe('the stream of events, after a crash', () => {
    it('shows what was committed but not published, and tells observers', async () => {
      const config = await database.create();
      const same = { ...database, create: () => Promise.resolve(config) };
      const first = await createTestKernel({ plugins: [events()], database: same });
      const append = (tx: Tx, title: string) => first.use(eventsRef).append(tx, { type: 'T', title });
      const seen = await first.ctx.transaction((tx) => append(tx, 'seen'));
      await until(() => first.db('events').where({ id: seen.id }).whereNotNull('position').first());
      // As when the server is killed right after the commit.
      const killed = { afterCommit: () => undefined };
      const left = await first.db.transaction((tx) => append(Object.assign(tx, killed), 'left behind'));
      await first.close();

      const told: string[] = [];
      const second = await createTestKernel({ plugins: [events(), observer(told)], database: same });
      const client = await second.sse('/events/stream', { token: 'read', lastEventId: seen.id });
      expect((await client.take()).id).to.equal(left.id);
      await until(() => told.length > 0);
      expect(told).to.deep.equal([left.id]);
      await client.close();
      await second.close();
    });
  });
});

describe('the stream of events, when nothing happens', () => {
  let kernel: TestKernel;
  const clock = fakeClock();
  before(async () => {
    kernel = await createTestKernel({ plugins: [events()], clock });
  });
  after(() => kernel.close());

  it('sends a heartbeat every 15 seconds, and ends when the server closes', async () => {
    const client = await kernel.sse('/events/stream', { token: 'read', comments: true });
    await clock.advance(15_000);
    const isHeartbeat = async () => (await client.take()).data === 'heartbeat';
    await until(isHeartbeat);
    const rest = client.next();
    await kernel.close();
    expect((await rest).done).to.equal(true);
  });
});
