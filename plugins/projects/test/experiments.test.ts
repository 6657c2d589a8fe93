import { eachDatabase, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

eachDatabase((database) => {
  let rig: Rig;
  let clock: FakeClock;
  let call: Rig['call'];
  let newName: Rig['newName'];
  let createProject: Rig['createProject'];
  let createExperiment: Rig['createExperiment'];
  let put: Rig['put'];

  before(async () => {
    rig = await Rig.start(database);
    ({ clock, call, newName, createProject, createExperiment, put } = rig);
  });
  after(() => rig.kernel.close());
  beforeEach(() => rig.clock.advance(1));

  describe('/experiments and /experiments/{experiment_id}: an experiment', () => {
    it('is created, read, changed and deleted', async () => {
      const project = await createProject();
      const body = { name: 'resnet', description: 'd', project_id: project.id.slice(4) };
      const created = await call('POST', '/experiments', body);
      expect(created.status).to.equal(201);
      const { id, ...rest } = created.body;
      expect(id).to.match(/^exp_/);
      expect(rest).to.deep.equal({
        ...body,
        project_id: project.id,
        run_count: 0,
        created_at: clock.now(),
      });
      expect((await call('GET', `/experiments/${id}`, undefined, 'read')).body).to.deep.equal(created.body);
      const changed = await call('PATCH', `/experiments/${id}`, { description: '' });
      expect(changed.body).to.deep.equal({ ...created.body, description: '' });
      expect((await call('DELETE', `/experiments/${id}`)).body).to.deep.equal(changed.body);
      expect((await call('DELETE', `/experiments/${id}`)).status).to.equal(404);
    });

    it('belongs to the project default when none is named', async () => {
      const { project_id } = (await call('POST', '/experiments', { name: newName() })).body;
      expect((await call('GET', `/projects/${project_id}`)).body.name).to.equal('default');
    });

    it('has a name that is unique in its project alone', async () => {
      const [one, two] = [await createProject(), await createProject()];
      const { name } = await createExperiment(one.id);
      expect((await call('POST', '/experiments', { name, project_id: one.id })).status).to.equal(409);
      expect((await call('POST', '/experiments', { name, project_id: two.id })).status).to.equal(201);
    });

    for (const what of ['runs', 'jobs']) {
      it(`is not deleted while it has ${what}`, async () => {
        const project = await createProject();
        const { id } = await createExperiment(project.id);
        await put(what, project.id, id);
        const refused = await call('DELETE', `/experiments/${id}`);
        expect([refused.status, refused.body.error.details]).to.deep.equal([409, { [what]: 1 }]);
        expect((await call('GET', `/experiments/${id}`)).body.run_count).to.equal(what === 'runs' ? 1 : 0);
      });
    }

    it('takes its runs and jobs with it to another project', async () => {
      const [from, to] = [await createProject(), await createProject()];
      const { id } = await createExperiment(from.id);
      await put('runs', from.id, id);
      await put('jobs', from.id, id);
      const moved = await call('PATCH', `/experiments/${id}`, { project_id: to.id });
      expect(moved.body).to.include({ project_id: to.id, run_count: 1 });
      expect((await call('GET', `/projects/${to.id}`)).body.run_count).to.equal(1);
      expect((await call('DELETE', `/projects/${from.id}`)).status).to.equal(200);
    });

    it('stays with its runs where it is when its name is taken in the other project', async () => {
      const [from, to] = [await createProject(), await createProject()];
      const { id, name } = await createExperiment(from.id);
      await createExperiment(to.id, name);
      await put('runs', from.id, id);
      const refused = await call('PATCH', `/experiments/${id}`, { project_id: to.id });
      expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'conflict']);
      expect((await call('GET', `/experiments/${id}`)).body.project_id).to.equal(from.id);
      expect((await call('GET', `/projects/${from.id}`)).body.run_count).to.equal(1);
    });

    it('is listed newest first, of one project or of all', async () => {
      const [one, two] = [await createProject(), await createProject()];
      const older = await createExperiment(one.id);
      await clock.advance(1);
      const newer = await createExperiment(one.id);
      await clock.advance(1);
      const other = await createExperiment(two.id);
      expect((await call('GET', `/experiments?project_id=${one.id}`)).body.items).to.deep.equal([
        newer,
        older,
      ]);
      expect(
        (await call('GET', `/experiments?project_id=${one.id.slice(4)}&limit=1`)).body.items,
      ).to.deep.equal([newer]);
      expect((await call('GET', '/experiments?limit=3')).body.items).to.deep.equal([other, newer, older]);
    });
  });
});
