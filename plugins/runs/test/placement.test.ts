import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

/** Projects and experiments with the records that really stand under them. */
describe('projects and experiments with runs and jobs', () => {
  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database })));
    after(() => rig.close());

    const remove = (path: string) => rig.kernel.request('DELETE', path, { token: rig.tokens.write });
    const idsOf = async (path: string): Promise<string[]> =>
      (await rig.get(path)).body.items.map(({ id }: { id: string }) => id);
    const queued = { node_selector: { node: 'nowhere' } };

    it('are returned with a run_count of their runs, not of their jobs', async () => {
      const place = { project: 'counted', experiment: 'e' };
      const { project_id, experiment_id } = await rig.createRun(place);
      await rig.createRun({ project: 'counted' });
      await rig.submit({ ...place, ...queued });
      expect((await rig.get(`/projects/${project_id}`)).body.run_count).to.equal(2);
      expect((await rig.get(`/experiments/${experiment_id}`)).body.run_count).to.equal(1);
      const listed = (await rig.get(`/experiments?project_id=${project_id}`)).body.items;
      expect(listed.map(({ run_count }: { run_count: number }) => run_count)).to.deep.equal([1]);
    });

    it('are not deleted while runs, jobs or experiments are under them: 409', async () => {
      const run = await rig.createRun({ project: 'full', experiment: 'of runs' });
      const job = await rig.submit({ project: 'full', experiment: 'of jobs', ...queued });
      const refusals: [string, object][] = [
        [`/projects/${run.project_id}`, { experiments: 2, jobs: 1, runs: 1 }],
        [`/experiments/${run.experiment_id}`, { runs: 1 }],
        [`/experiments/${job.experiment_id}`, { jobs: 1 }],
      ];
      for (const [path, details] of refusals) {
        const { status, body } = await remove(path);
        expect([status, body.error.code, body.error.details], path).to.deep.equal([409, 'conflict', details]);
        expect((await rig.get(path)).status).to.equal(200);
      }
    });

    it('keep their history when they are renamed; the old name makes a new one', async () => {
      const place = { project: 'old project', experiment: 'old experiment' };
      const run = await rig.createRun(place);
      const job = await rig.submit({ ...place, ...queued });
      const { project_id, experiment_id } = run;
      await rig.patch(`/projects/${project_id}`, { name: 'new project' });
      await rig.patch(`/experiments/${experiment_id}`, { name: 'new experiment' });
      expect(await idsOf(`/runs?project_id=${project_id}&experiment_id=${experiment_id}`)).to.deep.equal([
        run.id,
      ]);
      expect(await idsOf(`/jobs?project_id=${project_id}&experiment_id=${experiment_id}`)).to.deep.equal([
        job.id,
      ]);
      const renamed = await rig.createRun({ project: 'new project', experiment: 'new experiment' });
      expect(renamed).to.include({ project_id, experiment_id });
      const ofOldName = await rig.submit({ ...place, ...queued });
      expect(ofOldName.project_id).not.to.equal(project_id);
      expect(ofOldName.experiment_id).not.to.equal(experiment_id);
      expect((await rig.get(`/projects/${project_id}`)).body.run_count).to.equal(2);
    });

    it('take runs and jobs along when an experiment moves to another project', async () => {
      const run = await rig.createRun({ project: 'from', experiment: 'moved' });
      const job = await rig.submit({ project: 'from', experiment: 'moved', ...queued });
      const to = (await rig.post('/projects', { name: 'to' })).body;
      await rig.patch(`/experiments/${run.experiment_id}`, { project_id: to.id });
      expect(await idsOf(`/runs?project_id=${to.id}`)).to.deep.equal([run.id]);
      expect(await idsOf(`/jobs?project_id=${to.id}`)).to.deep.equal([job.id]);
      expect(await idsOf(`/runs?project_id=${run.project_id}`)).to.deep.equal([]);
      expect((await remove(`/projects/${run.project_id}`)).status).to.equal(200);
    });

    it('give a run of a job the project and experiment of that job, also when it has moved', async () => {
      const job = await rig.submit({ project: 'home', experiment: 'e', ...queued });
      const { id } = (await rig.post('/projects', { name: 'new home' })).body;
      await rig.patch(`/experiments/${job.experiment_id}`, { project_id: id });
      const run = await rig.createRun({ job_id: job.id, project: 'elsewhere', experiment: 'x' });
      expect(run).to.include({ project_id: id, experiment_id: job.experiment_id });
      const { items } = (await rig.get('/projects?limit=1000')).body;
      expect(items.map(({ name }: { name: string }) => name)).not.to.include('elsewhere');
    });
  });
});
