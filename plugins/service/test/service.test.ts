import { HIDDEN, JOB_STATUSES } from '@svc/contract';
import { createLogger, type HttpError } from '@svc/kernel';
import { eachDatabase, fakeClock } from '@svc/kernel/testing';
import { service } from '@svc/plugin-service';
import { expect } from 'chai';
import { ensureDatabaseAnswers } from '../src/health.js';
import { Lab, virtualSlots } from '../../jobs/test/support/lab.js';

eachDatabase((database) => {
  describe('service', () => {
    let lab: Lab;
    beforeEach(async () => {
      lab = await Lab.open({ database, plugins: [service()] });
    });
    afterEach(() => lab.close());

    const get = (path: string, token?: string) =>
      lab.kernel.request('GET', path, token === undefined ? {} : { token });

    it('shows nodes, jobs of every state, and the jobs that run', async () => {
      const none = Object.fromEntries(JOB_STATUSES.map((status) => [status, 0]));
      expect((await get('/status', 'read')).body).to.deep.equal({
        nodes: { total: 0, online: 0 },
        jobs: none,
        running: [],
      });
      const agent = await lab.agent({ slots: virtualSlots(1) });
      const job = await lab.submit({ env: { KEY: 'value' } });
      const waiting = await lab.submit();
      const dispatch = await agent.take('dispatch');
      agent.accept(dispatch);
      agent.running(dispatch);
      const running = await lab.reach(job.id, 'RUNNING');
      const { body } = await get('/status', 'write');
      expect(body).to.deep.equal({
        nodes: { total: 1, online: 1 },
        jobs: { ...none, RUNNING: 1, QUEUED: 1 },
        running: [running],
      });
      expect(body.running[0].env).to.deep.equal({ KEY: 'value' });
      expect((await lab.job(waiting.id)).status).to.equal('QUEUED');
    });

    it('hides env values from read scope', async () => {
      const agent = await lab.agent({ slots: virtualSlots(1) });
      const job = await lab.submit({ env: { KEY: 'value' } });
      const dispatch = await agent.take('dispatch');
      agent.accept(dispatch);
      agent.running(dispatch);
      await lab.reach(job.id, 'RUNNING');
      const [running] = (await get('/status', 'read')).body.running;
      expect(running).to.deep.include({ id: job.id, env: { KEY: HIDDEN } });
    });

    it('refuses callers of too low a scope, and parameters', async () => {
      expect((await get('/status')).status).to.equal(401);
      expect((await get('/status', 'unknown')).status).to.equal(401);
      for (const token of ['sdk', 'agent']) expect((await get('/status', token)).status).to.equal(403);
      for (const path of ['/status', '/health']) {
        const { status, body } = await get(`${path}?x=1`, 'read');
        expect([status, body.error.details.errors[0].path]).to.deep.equal([422, 'x']);
      }
    });
  });
});

eachDatabase((database) => {
  describe('health of the database', () => {
    const log = createLogger('silent');
    const errorOf = (check: Promise<void>) =>
      check.then(
        () => expect.fail('it is healthy'),
        (error: unknown) => error as HttpError,
      );

    it('is fine while it answers', async () => {
      await ensureDatabaseAnswers(await database.open(), { clock: fakeClock(), log });
    });

    it('is unavailable when it is gone', async () => {
      const db = await database.open();
      await db.destroy();
      const error = await errorOf(ensureDatabaseAnswers(db, { clock: fakeClock(), log }));
      expect([error.status, error.code]).to.deep.equal([503, 'unavailable']);
    });

    it('is unavailable when it has been busy for five seconds', async () => {
      const db = await database.open();
      const clock = fakeClock();
      const connections = database.client === 'sqlite' ? 1 : 10;
      const holding = await Promise.all(Array.from({ length: connections }, () => db.transaction()));
      const check = errorOf(ensureDatabaseAnswers(db, { clock, log }));
      await clock.advance(5_000);
      expect((await check).code).to.equal('unavailable');
      await Promise.all(holding.map((trx) => trx.rollback()));
    });
  });
});

describe('health', () => {
  it('needs no token and counts the seconds since the start', async () => {
    const clock = fakeClock();
    const lab = await Lab.open({ clock, plugins: [service()] });
    await clock.advance(1500);
    const { status, body } = await lab.kernel.request('GET', '/health');
    expect([status, body.status, body.uptime_s]).to.deep.equal([200, 'ok', 1.5]);
    expect(body.version).to.match(/^\d+\.\d+\.\d+/);
    await lab.close();
  });
});
