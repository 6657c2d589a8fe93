import type { EventRecord, Run } from '@svc/contract';
import { eachDatabase, fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rig } from './support/rig.js';

const MINUTE = 60_000;
const CHECK = 15_000;

describe('runs without a job', () => {
  eachDatabase((database) => {
    let rig: Rig;
    let clock: FakeClock;
    beforeEach(async () => {
      clock = fakeClock();
      rig = await Rig.start({ database, clock, plugins: [metrics()] });
    });
    afterEach(() => rig.close());

    const get = async (id: string): Promise<Run> => (await rig.get(`/runs/${id}`)).body;
    const told = async (id: string, type: string): Promise<EventRecord[]> =>
      (await rig.get(`/events?run_id=${id}&type=${type}`)).body.items;
    /** Lets the checks of that time run, with their queries. */
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += CHECK) {
        await clock.advance(Math.min(CHECK, ms - passed));
        await rig.get('/runs?limit=1');
      }
    };
    const alive = (id: string, token: string) => rig.post(`/runs/${id}/alive`, undefined, token);
    const write = (id: string, token: string, seq = 1) =>
      rig.post(`/runs/${id}/metrics:batch`, { points: [{ seq, name: 'loss', step: seq, value: 1 }] }, token);

    it('are stale after 5 minutes of silence, LOST after 10, and have then ended with the last sign: RUN_LOST fires', async () => {
      const { id, created_at } = await rig.createRun();
      await pass(5 * MINUTE - CHECK);
      expect(await get(id)).to.include({ status: 'RUNNING', stale_since: null });
      await pass(2 * CHECK);
      await until(async () => (await get(id)).stale_since !== null);
      expect(await get(id)).to.include({ status: 'RUNNING', stale_since: created_at, finished_at: null });
      const { health } = (await rig.get(`/runs/${id}/summary`)).body;
      expect(health.status).to.equal('stale');
      expect(health.reasons[0]).to.match(/^nothing has come from the run for 3\d\d s$/);
      await pass(5 * MINUTE - 2 * CHECK);
      expect((await get(id)).status).to.equal('RUNNING');
      await pass(2 * CHECK);
      await until(async () => (await get(id)).status === 'LOST');
      expect(await get(id)).to.include({ stale_since: null, finished_at: created_at });
      expect((await rig.get('/runs?status=LOST')).body.items[0].id).to.equal(id);
      const [lost, ...more] = await told(id, 'RUN_LOST');
      expect(lost).to.include({
        severity: 'warning',
        message: 'nothing has come from it for 600 s; it is RUNNING again when it reports',
      });
      expect([more, await told(id, 'RUN_FINISHED')]).to.deep.equal([[], []]);
    });

    it('are kept by signs of life and by every kind of write, and RUN_LOST does not fire', async () => {
      const { id, ingest_token: token } = await rig.createRun();
      const signs = [
        () => alive(id, token),
        () => write(id, token),
        () => rig.post(`/runs/${id}/events`, { title: 'here' }, token),
        () => rig.patch(`/runs/${id}`, { config: { lr: 1 } }, token),
      ];
      for (const sign of [...signs, ...signs]) {
        await pass(4 * MINUTE);
        expect((await sign()).status).to.be.oneOf([200, 201]);
      }
      expect(await get(id)).to.include({ status: 'RUNNING', stale_since: null });
      expect(await told(id, 'RUN_LOST')).to.deep.equal([]);
    });

    it('are not kept by what people write on them', async () => {
      const { id } = await rig.createRun();
      for (let minute = 0; minute < 11; minute += 1) {
        await pass(MINUTE);
        await rig.patch(`/runs/${id}`, { notes: `minute ${minute}` });
      }
      await until(async () => (await get(id)).status === 'LOST');
    });

    it('are RUNNING again when they report, and stale no more: RUN_FOUND fires once', async () => {
      const first = await rig.createRun();
      const second = await rig.createRun();
      await pass(11 * MINUTE);
      await until(async () => (await get(second.id)).status === 'LOST');
      expect((await alive(first.id, first.ingest_token)).body).to.deep.equal({ status: 'RUNNING' });
      expect((await write(second.id, second.ingest_token)).status).to.equal(200);
      for (const { id } of [first, second]) {
        expect(await get(id)).to.include({ status: 'RUNNING', finished_at: null, stale_since: null });
        expect(await told(id, 'RUN_FOUND')).to.have.length(1);
      }
      await pass(6 * MINUTE);
      await until(async () => (await get(first.id)).stale_since !== null);
      await alive(first.id, first.ingest_token);
      await pass(CHECK);
      await until(async () => (await get(first.id)).stale_since === null);
      expect(await told(first.id, 'RUN_FOUND')).to.have.length(1);
    });

    it('were only stale when they report again, and RUN_FOUND does not fire', async () => {
      const { id, ingest_token: token } = await rig.createRun();
      await pass(6 * MINUTE);
      await until(async () => (await get(id)).stale_since !== null);
      expect((await write(id, token)).status).to.equal(200);
      await pass(CHECK);
      await until(async () => (await get(id)).stale_since === null);
      expect(await told(id, 'RUN_FOUND')).to.deep.equal([]);
    });

    it('may be LOST and found any number of times, and end from there', async () => {
      const { id, ingest_token: token } = await rig.createRun();
      for (const times of [1, 2]) {
        await pass(11 * MINUTE);
        await until(async () => (await get(id)).status === 'LOST');
        expect((await write(id, token, times)).status).to.equal(200);
        expect((await get(id)).status).to.equal('RUNNING');
      }
      await pass(11 * MINUTE);
      const finished = await rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' }, token);
      expect(finished.body).to.include({ status: 'SUCCEEDED', finished_at: clock.now() });
      expect(await told(id, 'RUN_FOUND')).to.have.length(2);
      expect((await alive(id, token)).body).to.deep.equal({ status: 'SUCCEEDED' });
      await pass(11 * MINUTE);
      expect(await get(id)).to.include({ status: 'SUCCEEDED', stale_since: null });
    });

    it('have a live stream that goes on while they are LOST', async () => {
      const { id, ingest_token: token } = await rig.createRun();
      await pass(11 * MINUTE);
      await until(async () => (await get(id)).status === 'LOST');
      const stream = await rig.kernel.sse(`/runs/${id}/metrics/stream`, { token: rig.tokens.read });
      await write(id, token);
      await clock.advance(200);
      for await (const { event } of stream) {
        expect(event).to.equal(null);
        break;
      }
    });

    it('take signs of life from nobody else, and not without a token', async () => {
      const [mine, other] = [await rig.createRun(), await rig.createRun()];
      expect((await alive(mine.id, other.ingest_token)).status).to.equal(403);
      expect((await alive(mine.id, rig.tokens.read)).status).to.equal(403);
      expect((await alive('run_01HZZZZZZZZZZZZZZZZZZZZZZZ', rig.tokens.sdk)).status).to.equal(404);
    });

    it('of a job are left to the end of the job', async () => {
      const agent = await rig.agent();
      const job = await rig.submit();
      const { run_id, env } = await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      const further = (await rig.post('/runs', {}, env['SVC_TOKEN'])).body.id;
      expect((await alive(run_id!, env['SVC_TOKEN']!)).body).to.deep.equal({ status: 'RUNNING' });
      for (let beats = 0; beats < 12; beats += 1) {
        await pass(MINUTE);
        agent.send({ type: 'heartbeat', ts: clock.now() });
      }
      for (const id of [run_id!, further])
        expect(await get(id)).to.include({ status: 'RUNNING', stale_since: null });
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
    });
  });

  describe('when the server was away', () => {
    let clock: FakeClock;
    let dataDir: string;
    let rig: Rig;
    beforeEach(async () => {
      clock = fakeClock();
      dataDir = mkdtempSync(join(tmpdir(), 'svc-runs-'));
      rig = await Rig.start({ clock, dataDir });
    });
    afterEach(async () => {
      await rig.close();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const get = async (id: string): Promise<Run> => (await rig.get(`/runs/${id}`)).body;
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += CHECK) {
        await clock.advance(CHECK);
        await rig.get('/runs?limit=1');
      }
    };

    it('have the whole time again after a restart', async () => {
      const { id, created_at } = await rig.createRun();
      await pass(9 * MINUTE);
      await rig.close();
      await clock.advance(60 * MINUTE);
      rig = await Rig.start({ clock, dataDir });
      await pass(10 * MINUTE - CHECK);
      expect((await get(id)).status).to.equal('RUNNING');
      await pass(2 * CHECK);
      await until(async () => (await get(id)).status === 'LOST');
      expect((await get(id)).finished_at).to.equal(created_at);
    });

    it('have the signs that came before a restart stored', async () => {
      const { id, ingest_token: token } = await rig.createRun();
      await pass(3 * MINUTE);
      await clock.advance(1_000);
      await rig.post(`/runs/${id}/alive`, undefined, token);
      const seenAt = clock.now();
      await rig.close();
      rig = await Rig.start({ clock, dataDir });
      await pass(11 * MINUTE);
      await until(async () => (await get(id)).status === 'LOST');
      expect((await get(id)).finished_at).to.equal(seenAt);
    });

    it('have the whole time again after a standstill, or a jump of the clock', async () => {
      let nowMs = clock.now();
      await rig.close();
      rig = await Rig.start({ clock: { ...clock, now: () => nowMs }, dataDir });
      const { id } = await rig.createRun();
      for (const jumpMs of [3_600_000, -7_200_000]) {
        nowMs += jumpMs;
        await clock.advance(CHECK);
        await rig.get('/runs?limit=1');
        expect((await get(id)).status).to.equal('RUNNING');
      }
    });
  });
});
