import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

const UNKNOWN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';

describe('runs over HTTP', () => {
  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database })));
    after(() => rig.close());

    const create = async (body: object = {}, token = rig.tokens.sdk) => {
      const answer = await rig.post('/runs', body, token);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      return answer.body;
    };

    describe('POST /runs', () => {
      it('makes a run that is RUNNING, and a token that is good for it alone', async () => {
        const { ingest_token, ...run } = await create({
          name: 'one',
          config: { lr: 0.1 },
          max_steps: 10,
          tags: ['a', 'b'],
        });
        expect(run).to.deep.include({
          name: 'one',
          source: 'sdk',
          status: 'RUNNING',
          step: null,
          epoch: null,
          finished_at: null,
        });
        expect(run).to.deep.include({
          config: { lr: 0.1 },
          max_steps: 10,
          tags: ['a', 'b'],
          notes: '',
          job_id: null,
          attempt: null,
        });
        expect((await rig.get(`/runs/${run.id}`)).body).to.deep.equal(run);
        const other = await create();
        expect(other.name).to.match(/^run-[0-9a-z]{8}$/);
        expect(
          (await rig.post(`/runs/${other.id}/finish`, { status: 'FAILED' }, ingest_token)).status,
        ).to.equal(403);
        expect((await rig.post('/runs', {}, ingest_token)).status).to.equal(403);
        expect(
          (await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' }, ingest_token)).status,
        ).to.equal(200);
      });

      it('puts it under project and experiment by name', async () => {
        const run = await create({ project: 'vision', experiment: 'resnet' });
        const project = (await rig.get(`/projects/${run.project_id}`)).body;
        const experiment = (await rig.get(`/experiments/${run.experiment_id}`)).body;
        expect(project).to.include({ name: 'vision', run_count: 1 });
        expect(experiment).to.include({ name: 'resnet', project_id: project.id, run_count: 1 });
        const refused = await rig.kernel.request('DELETE', `/projects/${project.id}`, {
          token: rig.tokens.write,
        });
        expect(refused.status).to.equal(409);
      });

      it('keeps secrets of the environment to itself, at any depth', async () => {
        const env = {
          HF_TOKEN: 'hf',
          nested: [{ db_password: 'p', api_key: 1, kept: 2 }],
          AWS_SECRET_KEY: { a: 1 },
          tokenizers: '0.15',
        };
        const run = await create({ environment: { env } });
        const masked = {
          HF_TOKEN: '***',
          nested: [{ db_password: '***', api_key: '***', kept: 2 }],
          AWS_SECRET_KEY: '***',
          tokenizers: '0.15',
        };
        expect(run.environment).to.deep.equal({ env: masked });
        expect((await rig.get(`/runs/${run.id}`)).body.environment).to.deep.equal({ env: masked });
      });

      it('belongs to the present attempt of the job that an sdk token names', async () => {
        const job = await rig.submit({ project: 'of-the-job', node_selector: { node: 'nowhere' } });
        const run = await create({ job_id: job.id, project: 'another' });
        expect(run).to.deep.include({
          job_id: job.id,
          attempt: 1,
          project_id: job.project_id,
          name: job.name,
        });
        const listed = await rig.get(`/jobs/${job.id}/runs`);
        expect(listed.body.items.map(({ id }: { id: string }) => id)).to.deep.equal([run.id]);
        expect((await rig.post('/runs', { job_id: 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ' })).status).to.equal(404);
      });

      it('refuses what is wrong, naming the field', async () => {
        const cases: [unknown, string][] = [
          [{ nmae: 'x' }, 'nmae'],
          [{ name: '' }, 'name'],
          [{ name: 7 }, 'name'],
          [{ max_steps: 0 }, 'max_steps'],
          [{ tags: ['a', 'a'] }, 'tags'],
          [{ source: 'job' }, 'source'],
          [{ config: [] }, 'config'],
          [{ started_at: -1 }, 'started_at'],
        ];
        for (const [body, path] of cases) {
          const answer = await rig.post('/runs', body);
          expect(answer.status, path).to.equal(422);
          expect(answer.body.error.details.errors[0].path, path).to.include(path);
        }
        expect((await rig.post('/runs', '{"name":')).status).to.equal(422);
        expect((await rig.post('/runs', {}, rig.tokens.read)).status).to.equal(403);
        expect((await rig.post('/runs', { config: { big: 'x'.repeat(1024 * 1024) } })).status).to.equal(413);
        expect((await rig.post('/runs', { experiment: 'exp_01HZZZZZZZZZZZZZZZZZZZZZZZ' })).status).to.equal(
          404,
        );
      });
    });

    describe('finish', () => {
      it('ends a run once; the same again is 200, another status 409', async () => {
        const { id } = await create();
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

      it('is told by events, as its start is', async () => {
        const { id } = await create({ name: 'told' });
        await rig.post(`/runs/${id}/finish`, { status: 'FAILED' });
        await rig.post(`/runs/${id}/finish`, { status: 'FAILED' });
        const { items } = (await rig.get(`/events?run_id=${id}`)).body;
        const told = items.map(
          ({ type, severity }: { type: string; severity: string }) => `${type} ${severity}`,
        );
        expect(told).to.deep.equal(['RUN_FINISHED warning', 'RUN_STARTED info']);
      });

      it('refuses other statuses and unknown runs', async () => {
        const { id } = await create();
        for (const status of ['RUNNING', 'LOST', 'succeeded', undefined]) {
          expect((await rig.post(`/runs/${id}/finish`, { status })).status).to.equal(422);
        }
        expect((await rig.post(`/runs/${UNKNOWN}/finish`, { status: 'FAILED' })).status).to.equal(404);
        expect((await rig.post('/runs/nonsense/finish', { status: 'FAILED' })).status).to.equal(404);
        expect((await rig.get(`/runs/${id}`)).body.status).to.equal('RUNNING');
      });
    });

    describe('PATCH', () => {
      it('lets write scope change what people write, and the training what it says of itself', async () => {
        const { id, ingest_token } = await create({ config: { a: 1 } });
        const patched = await rig.patch(`/runs/${id}`, { name: 'better', tags: ['x'], notes: 'good\none' });
        expect(patched.body).to.deep.include({
          name: 'better',
          tags: ['x'],
          notes: 'good\none',
          config: { a: 1 },
        });
        const own = { config: { b: 2 }, environment: { python: '3.12', api_key: 'k' }, max_steps: 5 };
        const byTraining = await rig.patch(`/runs/${id}`, own, ingest_token);
        expect(byTraining.status).to.equal(200);
        expect(byTraining.body).to.deep.include({ ...own, environment: { python: '3.12', api_key: '***' } });
        expect((await rig.patch(`/runs/${id}`, { max_steps: null }, ingest_token)).body.max_steps).to.equal(
          null,
        );
        expect((await rig.patch(`/runs/${id}`, {})).body.name).to.equal('better');
      });

      it('refuses names, tags and notes without write scope, changing nothing', async () => {
        const { id, ingest_token } = await create({ name: 'kept' });
        for (const token of [ingest_token, rig.tokens.sdk]) {
          const answer = await rig.patch(`/runs/${id}`, { name: 'stolen', config: { c: 3 } }, token);
          expect(answer.status).to.equal(403);
          expect(answer.body.error.message).to.include('name');
        }
        expect((await rig.get(`/runs/${id}`)).body).to.deep.include({ name: 'kept', config: {} });
        expect((await rig.patch(`/runs/${id}`, { status: 'FAILED' })).status).to.equal(422);
        for (const notes of [7, 'a\0b', 'x'.repeat(100_001)]) {
          expect((await rig.patch(`/runs/${id}`, { notes })).status).to.equal(422);
        }
      });
    });

    describe('lists', () => {
      it('apply every filter, newest first, with ids in either form', async () => {
        const a = await create({ project: 'lists', experiment: 'a' });
        const b = await create({ project: 'lists', experiment: 'b' });
        const c = await create({ project: 'lists', experiment: 'a' });
        await rig.post(`/runs/${c.id}/finish`, { status: 'FAILED' });
        const ids = async (path: string) =>
          (await rig.get(path)).body.items.map(({ id }: { id: string }) => id);
        expect(await ids(`/runs?project_id=${a.project_id}`)).to.deep.equal([c.id, b.id, a.id]);
        expect(await ids(`/runs?project_id=${a.project_id}&limit=2`)).to.deep.equal([c.id, b.id]);
        expect(await ids(`/runs?experiment_id=${a.experiment_id.slice(4)}`)).to.deep.equal([c.id, a.id]);
        expect(await ids(`/runs?experiment_id=${a.experiment_id}&status=RUNNING`)).to.deep.equal([a.id]);
        expect(
          await ids(`/runs?experiment_id=${a.experiment_id}&job_id=job_01HZZZZZZZZZZZZZZZZZZZZZZZ`),
        ).to.deep.equal([]);
        expect(await ids(`/experiments/${a.experiment_id}/runs`)).to.deep.equal([c.id, a.id]);
      });

      it('refuse what is wrong', async () => {
        for (const query of ['limit=0', 'limit=1001', 'limit=x', 'status=DONE', 'colour=red']) {
          expect((await rig.get(`/runs?${query}`)).status, query).to.equal(422);
        }
        expect((await rig.get('/runs?job_id=nonsense')).status).to.equal(404);
        expect((await rig.get('/experiments/exp_01HZZZZZZZZZZZZZZZZZZZZZZZ/runs')).status).to.equal(404);
        expect((await rig.get('/jobs/job_01HZZZZZZZZZZZZZZZZZZZZZZZ/runs')).status).to.equal(404);
        expect((await rig.get(`/runs/${UNKNOWN}`)).status).to.equal(404);
        expect((await rig.get('/runs', rig.tokens.agent)).status).to.equal(403);
      });
    });
  });
});
