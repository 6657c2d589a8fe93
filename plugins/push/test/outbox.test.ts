import type { Delivery, Notifier } from '@svc/contract';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  until,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { push } from '@svc/plugin-push';
import { expect } from 'chai';
import { append, HangingTarget, RecordingTarget, targets, titled } from './targets.js';

const HOUR_MS = 3_600_000;
const STORED = { delivery: 'at-least-once' } as const;

eachDatabase((database) => {
  describe('push, at least once', function () {
    this.timeout(60_000);
    let kernel: TestKernel;
    let clock: FakeClock;
    let config: Awaited<ReturnType<typeof database.create>>;
    let log: string;

    beforeEach(async () => {
      clock = fakeClock();
      log = '';
      config = await database.create();
    });
    afterEach(() => kernel.close());

    async function start(...notifiers: readonly Notifier[]): Promise<void> {
      const same = { ...database, create: () => Promise.resolve(config) };
      kernel = await createTestKernel({
        plugins: [events(), push(), targets(...notifiers)],
        clock,
        database: same,
        logLevel: 'warn',
        writeLog: (line: string) => void (log += line),
      });
    }
    const list = async (query = '') =>
      (await kernel.request('GET', `/events/deliveries?${query}`, { token: 'read' })).body
        .items as Delivery[];
    const untilTries = (tries: number) => until(async () => (await list())[0]?.tries === tries);
    const count = async (where: Partial<Delivery> = {}) =>
      Number((await kernel.db('push_deliveries').where(where).count({ n: '*' }).first())?.['n']);
    const untilAll = (status: string, count: number) =>
      until(async () => (await list(`status=${status}&limit=1000`)).length === count);

    it('tells of each event once when the target takes it, and lists the delivery', async () => {
      const phone = new RecordingTarget({ ...STORED, types: ['OOM'] });
      await start(phone);
      const [event] = await append(kernel, { type: 'OOM', title: 'oom' }, { type: 'OTHER' });
      await untilAll('DELIVERED', 1);
      const [{ id, ...rest } = {} as Delivery] = await list();
      expect(id).to.match(/^dlv_/);
      expect(rest).to.deep.equal({
        event_id: event?.id,
        target: 'phone',
        status: 'DELIVERED',
        tries: 1,
        last_error: null,
        created_at: clock.now(),
        next_try_at: null,
        finished_at: clock.now(),
      });
      expect(phone.told).to.deep.equal(['oom']);
    });

    it('tries again after 5 s, and each time after twice as long, up to 5 minutes', async () => {
      const phone = new RecordingTarget(STORED);
      phone.isDown = true;
      await start(phone);
      await append(kernel, {});
      const waits: number[] = [];
      for (let tries = 1; tries <= 9; tries += 1) {
        await untilTries(tries);
        const [delivery] = await list();
        expect(delivery).to.deep.include({ status: 'PENDING', last_error: 'the target answered 503' });
        waits.push((delivery?.next_try_at ?? 0) - clock.now());
        await clock.advance(waits.at(-1) ?? 0);
      }
      expect(waits.map((ms) => ms / 1000)).to.deep.equal([5, 10, 20, 40, 80, 160, 300, 300, 300]);
      phone.isDown = false;
      await untilTries(10);
      await clock.advance(300_000);
      await untilAll('DELIVERED', 1);
      expect(phone.told).to.have.length(1);
      expect((await list())[0]?.last_error).to.equal('the target answered 503');
    });

    it('goes on after a restart of the server with what the target has not taken', async () => {
      const phone = new RecordingTarget(STORED);
      phone.isDown = true;
      await start(phone);
      await append(kernel, { title: 'one' }, { title: 'two' });
      await untilAll('PENDING', 2);
      await until(async () => (await list()).every(({ tries }) => tries === 1));
      await kernel.close();
      phone.isDown = false;
      await clock.advance(5_000);
      await start(phone);
      await untilAll('DELIVERED', 2);
      expect(phone.told.toSorted()).to.deep.equal(['one', 'two']);
    });

    it('tells of events that were published just before the server was killed', async () => {
      const phone = new RecordingTarget(STORED);
      await start(phone);
      await append(kernel, { title: 'before' });
      await untilAll('DELIVERED', 1);
      const { position } = (await kernel.db('push_cursors').first()) as { position: number };
      await append(kernel, { title: 'at the end' });
      await untilAll('DELIVERED', 2);
      // As the kill leaves it: the event has its place in the order, and the outbox has not seen it.
      await kernel.db('push_cursors').update({ position });
      const [last] = await list();
      await kernel.db('push_deliveries').where({ id: last?.id }).delete();
      await kernel.close();
      await start(phone);
      await untilAll('DELIVERED', 2);
      expect(phone.told).to.deep.equal(['before', 'at the end', 'at the end']);
    });

    it('shows no secret of an address that the error of a target names', async () => {
      const send = () =>
        Promise.reject(new Error('no answer from https://ada:hunter2@a.example/t?sig=hunter2'));
      await start({ name: 'phone', ...STORED, send });
      await append(kernel, {});
      await untilTries(1);
      const shown = 'no answer from https://***@a.example/t?***';
      expect((await list())[0]?.last_error).to.equal(shown);
      expect(log).to.contain(shown).and.not.contain('hunter2');
    });

    it('does not take a stop of the server for a failure of the target', async () => {
      await start(Object.assign(new HangingTarget('phone'), STORED));
      await append(kernel, {});
      await untilAll('PENDING', 1);
      await kernel.close();
      const phone = new RecordingTarget(STORED);
      await start(phone);
      await untilAll('DELIVERED', 1);
      expect((await list())[0]).to.include({ tries: 1, last_error: null });
    });

    it('gives up when an event is a day old', async () => {
      const phone = new RecordingTarget(STORED);
      phone.isDown = true;
      await start(phone);
      await append(kernel, {});
      await untilTries(1);
      const startMs = clock.now();
      // The tries of the last hour show when it ends.
      await clock.advance(23 * HOUR_MS);
      let [delivery] = await list();
      while (delivery?.status === 'PENDING') {
        const { tries, next_try_at: next } = delivery;
        await clock.advance(Math.max(0, (next ?? 0) - clock.now()));
        delivery = await until(async () => (await list()).find((each) => each.tries > tries));
      }
      expect(delivery).to.include({ status: 'FAILED', next_try_at: null });
      expect((delivery?.finished_at ?? 0) - startMs).to.be.within(23.9 * HOUR_MS, 24 * HOUR_MS);
      const { tries } = phone;
      await clock.advance(HOUR_MS);
      expect(phone.tries).to.equal(tries);
    });

    it('lists an event that was too old before its turn came, and does not send it', async () => {
      const phone = new RecordingTarget(STORED);
      await start(phone);
      const old = { type: 'T', title: 'old' };
      const { append: store } = kernel.use(eventsRef);
      await kernel.ctx.transaction((tx) => store(tx, old, clock.now() - 24 * HOUR_MS));
      await append(kernel, { title: 'new' });
      await untilAll('DELIVERED', 1);
      await untilAll('FAILED', 1);
      const [failed] = await list('status=FAILED');
      expect(failed).to.include({ tries: 0, last_error: 'the event was too old before the target took it' });
      expect(phone.told).to.deep.equal(['new']);
    });

    it('keeps a bounded number of deliveries for a target that is down, and loses nothing', async () => {
      const phone = new RecordingTarget(STORED);
      phone.isDown = true;
      await start(phone);
      await append(kernel, ...titled(1010));
      await until(() => phone.tries >= 20);
      expect(await count()).to.equal(1000);
      phone.isDown = false;
      await clock.advance(10_000);
      await until(() => phone.told.length === 1010);
      await until(async () => (await count({ status: 'DELIVERED' })) === 1010);
    });

    it('tells a new target of what happens from then on', async () => {
      await start();
      await append(kernel, { title: 'old' });
      await until(() => kernel.db('events').whereNotNull('position').first());
      await kernel.close();
      const phone = new RecordingTarget(STORED);
      await start(phone);
      await append(kernel, { title: 'new' });
      await until(() => phone.told.length > 0);
      expect(phone.told).to.deep.equal(['new']);
    });

    it('ends what is pending for a target that is no longer there', async () => {
      const phone = new RecordingTarget(STORED);
      phone.isDown = true;
      await start(phone);
      await append(kernel, {});
      await untilAll('PENDING', 1);
      await kernel.close();
      await start();
      expect((await list())[0]).to.include({ status: 'FAILED', finished_at: clock.now() });
      expect(await kernel.db('push_cursors')).to.deep.equal([]);
    });

    it('ends the delivery of an event that was removed', async () => {
      const phone = new RecordingTarget(STORED);
      phone.isDown = true;
      await start(phone);
      await append(kernel, {});
      await untilTries(1);
      await kernel.db('events').delete();
      await clock.advance(5_000);
      await untilAll('FAILED', 1);
      expect((await list())[0]).to.include({ tries: 1, last_error: 'the event was removed' });
    });

    it('removes deliveries that were over a week ago, and no others', async () => {
      const phone = new RecordingTarget(STORED);
      await start(phone);
      await append(kernel, {}, {});
      await untilAll('DELIVERED', 2);
      await clock.advance(6 * 24 * HOUR_MS);
      await append(kernel, {});
      await untilAll('DELIVERED', 3);
      await clock.advance(26 * HOUR_MS);
      await untilAll('DELIVERED', 1);
    });

    describe('GET /events/deliveries', () => {
      const get = (query: string, token = 'read') =>
        kernel.request('GET', `/events/deliveries?${query}`, { token });

      it('is filtered by target, status and event, newest first, and goes on behind `before`', async () => {
        const [phone, desk] = ['phone', 'desk'].map((name) => new RecordingTarget({ ...STORED, name }));
        desk!.isDown = true;
        await start(phone!, desk!);
        const records = await append(kernel, ...titled(3));
        await untilAll('DELIVERED', 3);
        await untilAll('PENDING', 3);
        expect(await list('target=desk')).to.have.length(3);
        expect(await list('target=nobody')).to.deep.equal([]);
        const ofOne = await list(`event_id=${records[1]?.id}&target=phone&status=DELIVERED`);
        expect(ofOne.map(({ event_id }) => event_id)).to.deep.equal([records[1]?.id]);
        const all = await list();
        expect(all).to.have.length(6);
        expect(await list(`before=${all[1]?.id}`)).to.deep.equal(all.slice(2));
      });

      it('refuses what is wrong, and callers without read scope', async () => {
        await start();
        for (const [query, status] of [
          ['status=SENT', 422],
          ['limit=0', 422],
          ['traget=phone', 422],
          ['event_id=nonsense', 404],
          ['event_id=evt_01HZZZZZZZZZZZZZZZZZZZZZZZ', 404],
          ['before=dlv_01HZZZZZZZZZZZZZZZZZZZZZZZ', 404],
        ] as const)
          expect((await get(query)).status, query).to.equal(status);
        for (const token of ['sdk', 'agent']) expect((await get('', token)).status).to.equal(403);
      });
    });
  });
});
