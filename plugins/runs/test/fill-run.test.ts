import type { EventRecord, Job, Run } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { JobAgent } from './support/job-agent.js';
import { Rig } from './support/rig.js';

describe('PATCH /runs/{run_id} with fill', () => {
  eachDatabase((database) => {
    let rig: Rig;
    let agent: JobAgent;
    before(async () => {
      rig = await Rig.start({ database });
      agent = await rig.agent();
    });
    after(() => rig.close());

    interface Training {
      readonly job: Job;
      readonly id: string;
      fill(wishes: object): Promise<Run & { kept: Record<string, string> }>;
      end(): Promise<unknown>;
    }

    async function train(submit: object): Promise<Training> {
      const job = await rig.submit(submit);
      const { run_id, env } = await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      return {
        job,
        id: run_id!,
        fill: async (fill) => (await rig.patch(`/runs/${run_id}`, { fill }, env['SVC_TOKEN'])).body,
        end: () => {
          agent.end(job.id);
          return rig.reach(job.id, 'SUCCEEDED');
        },
      };
    }
    const nameOf = async (kind: 'projects' | 'experiments', id: string | null): Promise<string> =>
      (await rig.get(`/${kind}/${id}`)).body.name;

    it('gives a job that was submitted with nothing its name, place and tags', async () => {
      const training = await train({ command: ['python3', 'src/train.py', '--lr', '1'], name: 'train.py' });
      const wishes = { name: 'resnet lr=1', project: 'filled', experiment: 'first', tags: ['a', 'b'] };
      const run = await training.fill(wishes);
      expect(run).to.deep.include({ name: 'resnet lr=1', tags: ['a', 'b'], kept: {} });
      expect(await nameOf('projects', run.project_id)).to.equal('filled');
      expect(await nameOf('experiments', run.experiment_id)).to.equal('first');
      const job = await rig.job(training.job.id);
      const { project_id, experiment_id } = run;
      expect(job).to.include({
        project: 'filled',
        experiment: 'first',
        project_id,
        experiment_id,
        name: 'train.py',
      });
      expect((await rig.get(`/runs?tags=a&project_id=${project_id}`)).body.items).to.have.length(1);
      expect((await training.fill(wishes)).kept, 'the same again').to.deep.equal({});
      await training.end();
    });

    it('keeps what the submit or a person decided, and says what', async () => {
      const training = await train({ command: ['train'], name: 'my name', project: 'decided' });
      await rig.patch(`/runs/${training.id}`, { tags: ['mine'] });
      const run = await training.fill({
        name: 'other',
        project: 'another',
        experiment: 'e',
        tags: ['more', 'mine'],
      });
      expect(run).to.deep.include({
        name: 'my name',
        project_id: training.job.project_id,
        tags: ['mine', 'more'],
        kept: { name: 'my name', project: 'decided' },
      });
      expect(await nameOf('experiments', run.experiment_id)).to.equal('e');
      const { kept } = await training.fill({ project: training.job.project_id!.slice(4), experiment: 'f' });
      expect(kept).to.deep.equal({ experiment: 'e' });
      await training.end();
      const { items } = (await rig.get('/projects')).body;
      expect(items.map(({ name }: { name: string }) => name)).not.to.include('another');
    });

    it('places the other runs of the job too, and those that it makes later', async () => {
      const job = await rig.submit({ command: ['train'] });
      const { run_id, env } = await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      const token = env['SVC_TOKEN']!;
      const further = (await rig.post('/runs', { name: 'fold 2' }, token)).body.id;
      await rig.patch(`/runs/${run_id}`, { fill: { project: 'folds' } }, token);
      const third = (await rig.post('/runs', { name: 'fold 3' }, token)).body.id;
      const { project_id } = await rig.job(job.id);
      for (const id of [run_id, further, third])
        expect((await rig.get(`/runs/${id}`)).body.project_id).to.equal(project_id);
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
    });

    it('fills a run without a job likewise', async () => {
      const open = await rig.createRun();
      const fill = { name: 'named', project: 'p', experiment: 'e', tags: ['t'] };
      const filled = (await rig.patch(`/runs/${open.id}`, { fill }, open.ingest_token)).body;
      expect(filled).to.deep.include({ name: 'named', tags: ['t'], kept: {} });
      expect(await nameOf('experiments', filled.experiment_id)).to.equal('e');
      const decided = await rig.createRun({ name: 'mine', project: 'q' });
      const { kept } = (await rig.patch(`/runs/${decided.id}`, { fill }, decided.ingest_token)).body;
      expect(kept).to.deep.equal({ name: 'mine', project: 'q' });
    });

    it('adds to the config what it lacks, as far as there is room, and says once what has none', async () => {
      const { id, ingest_token: token } = await rig.createRun({ config: { lr: 1 } });
      const fill = async (config: object) =>
        (await rig.patch(`/runs/${id}`, { fill: { config, tags: ['filled'] } }, token)).body;
      await fill({ lr: 2, first: 'x'.repeat(300_000) });
      for (const name of ['second', 'third'])
        expect(await fill({ [name]: 'x'.repeat(300_000) })).to.include.keys('kept');
      const { config, tags } = await fill({ lr: 3, batch: 8 });
      expect(Object.keys(config).sort()).to.deep.equal(['batch', 'first', 'lr']);
      expect([config.lr, tags]).to.deep.equal([1, ['filled']]);
      const { items } = (await rig.get(`/events?run_id=${id}&type=CUSTOM`)).body;
      expect(items.map(({ title, severity }: EventRecord) => [title, severity])).to.deep.equal([
        ['Hyperparameters are left out of the config', 'warning'],
      ]);
    });

    it('refuses what a run cannot be, and leaves it as it was', async () => {
      const { id, ingest_token: token } = await rig.createRun();
      const unknown = 'prj_01HZZZZZZZZZZZZZZZZZZZZZZZ';
      const refusals: [object, number][] = [
        [{ project: unknown }, 404],
        [{ name: '' }, 422],
        [{ notes: 'x' }, 422],
        [{ tags: [''] }, 422],
      ];
      for (const [fill, status] of refusals)
        expect((await rig.patch(`/runs/${id}`, { fill }, token)).status).to.equal(status);
      expect((await rig.get(`/runs/${id}`)).body).to.deep.include({ project_id: null, tags: [] });
    });
  });
});
