import { newId, type EventDraft, type EventRecord } from '@svc/contract';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';
import { observer } from './observer.js';

eachDatabase((database) => {
  describe('events', () => {
    let kernel: TestKernel;
    let clock: FakeClock;

    before(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({ plugins: [events()], database, clock });
    });
    after(() => kernel.close());
    beforeEach(() => clock.advance(1));

    const call = (method: string, path: string, body?: unknown, token = 'read') =>
      kernel.request(method, path, { token, body });
    async function append(draft: Partial<EventDraft> = {}): Promise<EventRecord> {
      const whole = { type: 'OOM', title: 'out of memory', ...draft };
      return kernel.ctx.transaction((tx) => kernel.use(eventsRef).append(tx, whole));
    }

    describe('that plugins append', () => {
      it('have defaults for what is left out', async () => {
        const { id, ...rest } = await append();
        expect(id).to.match(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(rest).to.deep.equal({
          type: 'OOM',
          severity: 'info',
          title: 'out of memory',
          message: '',
          run_id: null,
          job_id: null,
          node_id: null,
          data: {},
          created_at: clock.now(),
        });
      });

      it('are listed as they were appended', async () => {
        const record = await append({
          severity: 'critical',
          message: 'line one\nline two: äöü 😀',
          run_id: newId('run'),
          job_id: newId('job'),
          node_id: newId('node'),
          data: { nested: { list: [1, null, 'x\0y'] } },
        });
        expect((await call('GET', '/events?limit=1')).body.items).to.deep.equal([record]);
      });

      it('may hold NUL, which is replaced', async () => {
        const record = await append({ title: 'a\0b', message: '\0' });
        expect(record).to.include({ title: 'a\uFFFDb', message: '\uFFFD' });
        expect((await call('GET', '/events?limit=1')).body.items).to.deep.equal([record]);
      });

      it('are gone when their transaction rolls back', async () => {
        const rolledBack = kernel.ctx.transaction(async (tx) => {
          await kernel.use(eventsRef).append(tx, { type: 'GONE', title: 'gone' }, clock.now());
          throw new Error('roll back');
        });
        await rolledBack.catch(() => undefined);
        expect((await call('GET', '/events?type=GONE')).body.items).to.deep.equal([]);
      });

      it('are told to observers once each, in order, and a failing observer changes nothing', async () => {
        const seen: string[] = [];
        const observed = await createTestKernel({ plugins: [events(), observer(seen)], database });
        const appendThree = (first: number) =>
          observed.ctx.transaction(async (tx) => {
            const records = [];
            for (let index = first; index < first + 3; index += 1)
              records.push(await observed.use(eventsRef).append(tx, { type: 'T', title: String(index) }));
            return records;
          });
        const appended = await Promise.all([0, 3, 6, 9, 12].map(appendThree));
        await observed.close();
        expect(seen.toSorted()).to.deep.equal(
          appended.flatMap((records) => records.map(({ id }) => id)).toSorted(),
        );
        for (const records of appended)
          expect(seen.filter((id) => records.some((record) => record.id === id))).to.deep.equal(
            records.map(({ id }) => id),
          );
      });
    });

    describe('are listed', () => {
      it('newest first', async () => {
        const older = await append();
        await clock.advance(1);
        const newer = await append();
        expect((await call('GET', '/events?limit=2')).body.items).to.deep.equal([newer, older]);
      });

      it('in the order of their ids when they are of one millisecond', async () => {
        const appended = [];
        for (let index = 0; index < 5; index += 1) appended.push(await append());
        expect((await call('GET', '/events?limit=5')).body.items).to.deep.equal(appended.reverse());
      });

      it('by every filter that is given', async () => {
        const refs = { run_id: newId('run'), job_id: newId('job'), node_id: newId('node') };
        const full = await append({ ...refs, type: 'LOSS_NAN', severity: 'critical' });
        for (const key of ['run_id', 'job_id', 'node_id'] as const) {
          await append({ ...refs, type: 'LOSS_NAN', severity: 'critical', [key]: null });
        }
        await append({ ...refs, severity: 'critical' });
        await append({ ...refs, type: 'LOSS_NAN' });
        const listed = async (query: string) => (await call('GET', `/events?${query}`)).body.items;
        const all = `run_id=${refs.run_id}&job_id=${refs.job_id}&node_id=${refs.node_id}`;
        expect(await listed(`${all}&type=LOSS_NAN&severity=critical`)).to.deep.equal([full]);
        expect(await listed(all)).to.have.length(3);
        expect(await listed(`run_id=${refs.run_id.slice(4).toLowerCase()}`)).to.have.length(5);
        expect(await listed(`run_id=${newId('run')}`)).to.deep.equal([]);
      });
    });

    describe('bad input', () => {
      for (const path of ['/events', '/events/stream']) {
        it(`GET ${path} is refused without a token, and to sdk and agent scope`, async () => {
          expect((await kernel.request('GET', path)).status).to.equal(401);
          for (const token of ['sdk', 'agent', `ingest:${newId('run')}`]) {
            expect((await call('GET', path, undefined, token)).status, token).to.equal(403);
          }
        });
        for (const query of [`run_id=${newId('job')}`, 'run_id=nonsense', 'job_id=%00', 'node_id=']) {
          it(`GET ${path} answers 404 to the malformed id in ${query}`, async () => {
            expect((await call('GET', `${path}?${query}`)).body.error.code).to.equal('not_found');
          });
        }
        for (const [query, name] of [
          ['severity=fatal', 'severity'],
          ['type=', 'type'],
          ['type=%00', 'type'],
          [`type=${'x'.repeat(101)}`, 'type'],
          ['sevrity=info', 'sevrity'],
        ] as const) {
          it(`GET ${path} refuses ${query.slice(0, 20)}`, async () => {
            const { status, body } = await call('GET', `${path}?${query}`);
            expect([status, body.error.details.errors[0].path]).to.deep.equal([422, name]);
          });
        }
      }
      for (const limit of ['0', '1001', '-1', '1.5', 'x']) {
        it(`GET /events refuses limit=${limit}`, async () => {
          const { status, body } = await call('GET', `/events?limit=${limit}`);
          expect([status, body.error.details.errors[0].path]).to.deep.equal([422, 'limit']);
        });
      }
    });
  });
});
