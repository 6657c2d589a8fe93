import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { runsRef } from '../src/index.js';
import { Rig } from './support/rig.js';

describe('POST /runs', () => {
  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database })));
    after(() => rig.close());

    it('makes a run that is RUNNING, and a token that is good for it alone', async () => {
      const { ingest_token, ...run } = await rig.createRun({
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
      const other = await rig.createRun();
      expect(other.name).to.match(/^run-[0-9a-z]{8}$/);
      expect(
        (await rig.post(`/runs/${other.id}/finish`, { status: 'FAILED' }, ingest_token)).status,
      ).to.equal(403);
      expect((await rig.post('/runs', {}, ingest_token)).status).to.equal(403);
      expect((await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' }, ingest_token)).status).to.equal(
        200,
      );
    });

    it('puts it under project and experiment by name', async () => {
      const run = await rig.createRun({ project: 'vision', experiment: 'resnet' });
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
      const run = await rig.createRun({ environment: { env } });
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
      const run = await rig.createRun({ job_id: job.id, project: 'another' });
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

    it('is refused for a job that has ended, since nothing would end it', async () => {
      const job = await rig.submit({ node_selector: { node: 'nowhere' } });
      await rig.post(`/jobs/${job.id}/cancel`);
      const { status, body } = await rig.post('/runs', { job_id: job.id });
      expect([status, body.error.message]).to.deep.equal([
        409,
        `${job.id} has ended as CANCELLED: leave job_id out for a run without a job`,
      ]);
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

    it('takes a project and an experiment by id, and answers 404 to an unknown id, making nothing', async () => {
      const first = await rig.createRun({ project: 'by id', experiment: 'e' });
      const again = await rig.createRun({
        project: first.project_id.slice(4),
        experiment: first.experiment_id,
      });
      expect(again).to.include({ project_id: first.project_id, experiment_id: first.experiment_id });
      const before = (await rig.get('/runs?limit=1000')).body.items.length;
      for (const body of [
        { project: 'prj_01HZZZZZZZZZZZZZZZZZZZZZZZ' },
        { project: 'by id', experiment: 'exp_01HZZZZZZZZZZZZZZZZZZZZZZZ' },
      ]) {
        const answer = await rig.post('/runs', body);
        expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'not_found']);
      }
      expect((await rig.get('/runs?limit=1000')).body.items.length).to.equal(before);
    });

    it('puts an experiment without a project under the project default, and neither nowhere', async () => {
      const { project_id } = await rig.createRun({ experiment: 'alone' });
      expect((await rig.get(`/projects/${project_id}`)).body.name).to.equal('default');
      expect(await rig.createRun()).to.include({ project_id: null, experiment_id: null });
    });

    it('has the source import for imported runs, with the time that they started', async () => {
      const run = await rig.createRun({ source: 'import', started_at: 1_000 });
      expect(run).to.include({ source: 'import', started_at: 1_000, status: 'RUNNING' });
    });

    describe('with an import_key', () => {
      const create = (body: object, token = rig.tokens.sdk) =>
        rig.post('/runs', { source: 'import', ...body }, token);

      it('makes one run, and answers the repeated request with the one that stands', async () => {
        const first = await create({
          import_key: 'mlflow:1',
          name: 'first',
          config: { text: 'x'.repeat(5000) },
        });
        expect(first.status).to.equal(201);
        const { ingest_token: _token, ...run } = first.body;
        await rig.post(`/runs/${run.id}/finish`, { status: 'IMPORTED' });
        const again = await create({ import_key: 'mlflow:1', name: 'other' }, rig.tokens.write);
        expect(again.status).to.equal(200);
        const { ingest_token, ...same } = again.body;
        expect(same).to.deep.equal((await rig.get(`/runs/${run.id}`)).body);
        expect((await rig.post(`/runs/${run.id}/alive`, {}, ingest_token)).status).to.equal(200);
        expect((await create({ import_key: 'mlflow:2' })).body.id).to.not.equal(run.id);
        const listed = await rig.get('/runs?import_key=mlflow:1');
        expect(listed.body.items.map(({ id }: { id: string }) => id)).to.deep.equal([run.id]);
      });

      it('makes one run of requests that come together', async () => {
        const answers = await Promise.all(
          Array.from({ length: 5 }, () => create({ import_key: 'together' })),
        );
        expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1);
        expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
        expect(answers.filter(({ status }) => status === 200)).to.have.length(4);
      });

      it('makes a new run once the first is deleted', async () => {
        const { id } = (await create({ import_key: 'deleted' })).body;
        await rig.kernel.use(runsRef).markDeleted(rig.kernel.db, [id]);
        const next = await create({ import_key: 'deleted' });
        expect(next.status).to.equal(201);
        expect(next.body.id).to.not.equal(id);
      });

      it('is refused for runs that are not imported, and from a training', async () => {
        const sdk = await create({ import_key: 'k', source: 'sdk' });
        expect([sdk.status, sdk.body.error.details.errors[0].path]).to.deep.equal([422, 'import_key']);
        const { ingest_token } = await rig.createRun();
        expect((await create({ import_key: 'k' }, ingest_token)).status).to.equal(403);
        for (const import_key of ['', 'two words', 'x'.repeat(101)])
          expect((await create({ import_key })).status).to.equal(422);
      });
    });

    it('keeps secrets of the config too, and those within texts', async () => {
      const run = await rig.createRun({
        config: { lr: 0.1, max_tokens: 4096, wandb_api_key: 'k', init: 'postgres://u:p@h/d' },
        environment: { command: ['python', 'train.py', '--hf-token', 'hf', 'API_KEY=k'] },
      });
      expect(run.config).to.deep.equal({
        lr: 0.1,
        max_tokens: 4096,
        wandb_api_key: '***',
        init: 'postgres://u:***@h/d',
      });
      expect(run.environment).to.deep.equal({
        command: ['python', 'train.py', '--hf-token', '***', 'API_KEY=***'],
      });
      expect((await rig.get(`/runs/${run.id}`)).body.config).to.deep.equal(run.config);
    });
  });
});
