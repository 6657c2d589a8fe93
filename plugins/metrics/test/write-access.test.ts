import type { Run } from '@svc/contract';
import { eachDatabase, fakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from '../../runs/test/support/rig.js';
import { metrics } from '../src/index.js';

const GRACE_MS = 10 * 60_000;

describe('who may write points', () => {
  eachDatabase((database) => {
    const clock = fakeClock();
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database, clock, plugins: [metrics()] })));
    after(() => rig.close());

    const newRun = async (): Promise<Run & { ingest_token: string }> =>
      (await rig.post('/runs', {}, rig.tokens.sdk)).body;
    const write = (id: string, seq: number, token: string) =>
      rig.post(
        `/runs/${id}/metrics:batch`,
        { points: [{ seq, name: 'loss', step: seq, value: seq }] },
        token,
      );
    const valuesOf = async ({ id }: Run) =>
      (await rig.get(`/runs/${id}/metrics`)).body.series['loss']?.values ?? [];

    it('the token of a run writes to that run alone, also to one that was written to just before', async () => {
      const [run, other] = [await newRun(), await newRun()];
      const bare = run.id.replace('run_', '');
      for (const id of [run.id, bare]) {
        expect((await write(id, 0, run.ingest_token)).status).to.equal(200);
        expect((await write(id, 1, other.ingest_token)).status).to.equal(403);
        expect((await write(id, 1, rig.tokens.read)).status).to.equal(403);
      }
      expect((await write(run.id, 1, rig.tokens.sdk)).status).to.equal(200);
      expect(await valuesOf(run)).to.deep.equal([0, 1]);
    });

    it('what was still on its way when a run was finished is taken for ten minutes, then the token is dead', async () => {
      const run = await newRun();
      await write(run.id, 0, run.ingest_token);
      expect(
        (await rig.post(`/runs/${run.id}/finish`, { status: 'SUCCEEDED' }, run.ingest_token)).status,
      ).to.equal(200);
      await clock.advance(GRACE_MS - 1);
      expect((await write(run.id, 1, run.ingest_token)).body).to.deep.equal({ accepted: 1, duplicates: 0 });
      await clock.advance(1);
      expect((await write(run.id, 2, run.ingest_token)).status).to.equal(401);
      expect(await valuesOf(run)).to.deep.equal([0, 1]);
      expect((await rig.get(`/runs/${run.id}`)).body).to.include({ status: 'SUCCEEDED', step: 1 });
    });

    it('a run that was deleted after it was written to is not found, and other batches of that moment stand', async () => {
      const [run, other] = [await newRun(), await newRun()];
      await write(run.id, 0, rig.tokens.sdk);
      await rig.kernel.db('runs').where({ id: run.id }).delete();
      const answers = await Promise.all([
        write(run.id, 1, rig.tokens.sdk),
        write(other.id, 0, rig.tokens.sdk),
        write(run.id, 2, rig.tokens.sdk),
      ]);
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 200, 404]);
      expect(await valuesOf(other)).to.deep.equal([0]);
    });
  });
});
