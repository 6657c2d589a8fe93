import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from '../../runs/test/support/rig.js';
import type { Evaluation } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { checkpoints, findResults } from '../src/index.js';

const RESULT: Evaluation = {
  id: 'eval_1',
  checkpoint_id: '',
  run_id: 'run_1',
  job_id: 'job_1',
  status: 'SUCCEEDED',
  suite: null,
  dataset: null,
  dataset_version: null,
  metrics: { acc: 0.9 },
  runtime_s: 1,
  error: null,
  created_at: 0,
  finished_at: 1,
};

/** In place of the plugin that keeps evaluations: one for every checkpoint. */
const results = definePlugin({
  name: 'results',
  requires: ['checkpoints'],
  setup(ctx) {
    ctx.tap(findResults, (_db, ids) => new Map(ids.map((id) => [id, [{ ...RESULT, checkpoint_id: id }]])));
  },
});

eachDatabase((database) => {
  describe('what a token that may only write sees', () => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database, plugins: [checkpoints(), results()] })));
    after(() => rig.close());

    const someRun = () =>
      rig.createRun({ name: 'digits', config: { lr: 0.1, api_key: 'hunter2' }, environment: { gpus: 2 } });

    it('is the record of a run whose id it knows, as the answer to its own write, with secrets masked', async () => {
      const { id, ingest_token } = await someRun();
      for (const token of [rig.tokens.sdk, ingest_token]) {
        const { status, body } = await rig.patch(`/runs/${id}`, {}, token);
        expect(status).to.equal(200);
        expect(body).to.deep.include({ config: { lr: 0.1, api_key: '***' }, environment: { gpus: 2 } });
        for (let again = 0; again < 2; again += 1) {
          const finished = await rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' }, token);
          expect(finished.body).to.deep.include({ id, config: { lr: 0.1, api_key: '***' } });
        }
      }
    });

    it('is a stored checkpoint whose path and step it names', async () => {
      const { id } = await someRun();
      const place = { path: '/out/checkpoint-1', step: 1 };
      await rig.post(`/runs/${id}/checkpoints`, { ...place, metadata: { loss: 0.5 } });
      const { body } = await rig.post(`/runs/${id}/checkpoints`, place, rig.tokens.sdk);
      expect(body.metadata).to.deep.include({ loss: 0.5 });
    });

    it('is no result of an evaluation of that checkpoint, which those see who may read', async () => {
      const { id, ingest_token } = await someRun();
      const place = { path: '/out/checkpoint-2', step: 2 };
      await rig.post(`/runs/${id}/checkpoints`, place, ingest_token);
      const again = async (token: string) => {
        const { body } = await rig.post(`/runs/${id}/checkpoints`, place, token);
        return body.metadata.evaluations as object[];
      };
      for (const token of [rig.tokens.sdk, ingest_token]) expect(await again(token)).to.deep.equal([]);
      expect(await again(rig.tokens.write)).to.have.length(1);
    });

    it('is of a job whose id it knows the name, the project, the experiment and the present attempt alone', async () => {
      const job = await rig.submit({ name: 'secret-job', env: { A: 'b' } });
      const { body } = await rig.post('/runs', { job_id: job.id }, rig.tokens.sdk);
      const ofJob = { job_id: job.id, attempt: job.attempt };
      expect(body).to.deep.include({ name: 'secret-job', project_id: job.project_id, ...ofJob });
      const { body: other } = await rig.post('/runs', {}, rig.tokens.sdk);
      expect(Object.keys(body)).to.have.members(Object.keys(other));
      const differ = Object.keys(body).filter(
        (key) => JSON.stringify(body[key]) !== JSON.stringify(other[key]),
      );
      const own = ['id', 'ingest_token', 'created_at', 'started_at'];
      expect([...own, 'name', 'project_id', 'experiment_id', ...Object.keys(ofJob)]).to.include.members(
        differ,
      );
    });

    it('is nothing that it asks for, and of a run ingest token nothing of other runs', async () => {
      const [own, other] = [await someRun(), await someRun()];
      const reads = [`/runs`, `/runs/${own.id}`, `/runs/${own.id}/checkpoints`, '/events', '/jobs'];
      for (const token of [rig.tokens.sdk, own.ingest_token])
        for (const path of reads) expect((await rig.get(path, token)).status, path).to.equal(403);
      expect((await rig.patch(`/runs/${other.id}`, {}, own.ingest_token)).status).to.equal(403);
      const finish = { status: 'SUCCEEDED' };
      expect((await rig.post(`/runs/${other.id}/finish`, finish, own.ingest_token)).status).to.equal(403);
    });
  });
});
