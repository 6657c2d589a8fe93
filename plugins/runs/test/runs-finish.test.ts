import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

const UNKNOWN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';

describe('POST /runs/{run_id}/finish', () => {
  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database })));
    after(() => rig.close());

    it('ends a run once; the same again is 200, another status 409', async () => {
      const { id } = await rig.createRun();
      const first = await rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' });
      expect(first.status).to.equal(200);
      expect(first.body.finished_at).to.be.at.least(first.body.started_at);
      const again = await rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' });
      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal(first.body);
      const other = await rig.post(`/runs/${id}/finish`, { status: 'FAILED' });
      expect(other.status).to.equal(409);
      expect(other.body.error.message).to.include('SUCCEEDED');
      expect((await rig.get(`/runs/${id}`)).body).to.deep.equal(first.body);
    });

    it('is told once: RUN_STARTED fires at the start, RUN_FINISHED fires as a warning at the end', async () => {
      const { id } = await rig.createRun({ name: 'told' });
      const told = async () =>
        (await rig.get(`/events?run_id=${id}`)).body.items.map(
          ({ type, severity }: { type: string; severity: string }) => `${type} ${severity}`,
        );
      expect(await told()).to.deep.equal(['RUN_STARTED info']);
      await rig.post(`/runs/${id}/finish`, { status: 'FAILED' });
      await rig.post(`/runs/${id}/finish`, { status: 'FAILED' });
      expect(await told()).to.deep.equal(['RUN_FINISHED warning', 'RUN_STARTED info']);
    });

    it('refuses other statuses and unknown runs', async () => {
      const { id } = await rig.createRun();
      for (const status of ['RUNNING', 'LOST', 'succeeded', undefined]) {
        expect((await rig.post(`/runs/${id}/finish`, { status })).status).to.equal(422);
      }
      expect((await rig.post(`/runs/${UNKNOWN}/finish`, { status: 'FAILED' })).status).to.equal(404);
      expect((await rig.post('/runs/nonsense/finish', { status: 'FAILED' })).status).to.equal(404);
      expect((await rig.get(`/runs/${id}`)).body.status).to.equal('RUNNING');
    });

    it('answers the same again to the run ingest token, which is good for 10 minutes more', async () => {
      const { id, ingest_token } = await rig.createRun();
      for (const expected of [200, 200]) {
        const answer = await rig.post(`/runs/${id}/finish`, { status: 'CANCELLED' }, ingest_token);
        expect([answer.status, answer.body.status]).to.deep.equal([expected, 'CANCELLED']);
      }
      expect((await rig.post(`/runs/${id}/finish`, { status: 'FAILED' }, ingest_token)).status).to.equal(409);
    });

    it('ends it at the given time; only an imported run may turn out to have ended later', async () => {
      const end = async (id: string, status: string, finished_at: number) =>
        (await rig.post(`/runs/${id}/finish`, { status, finished_at })).body.finished_at as number;
      const [imported, other] = [
        await rig.createRun({ source: 'import', started_at: 1 }),
        await rig.createRun(),
      ];
      const ends = [5000, 9000, 7000].map((at) => () => end(imported.id, 'IMPORTED', at));
      for (const [index, expected] of [5000, 9000, 9000].entries())
        expect(await ends[index]!()).to.equal(expected);
      expect(await end(other.id, 'FAILED', 5000)).to.equal(5000);
      expect(await end(other.id, 'FAILED', 9000)).to.equal(5000);
    });

    for (const status of ['SUCCEEDED', 'FAILED', 'CANCELLED', 'IMPORTED']) {
      it(`sets ${status}`, async () => {
        const { id } = await rig.createRun({ config: { text: 'x'.repeat(5000) } });
        const { body } = await rig.post(`/runs/${id}/finish`, { status });
        expect(body.status).to.equal(status);
        expect(body).to.deep.equal((await rig.get(`/runs/${id}`)).body);
      });
    }
  });
});
