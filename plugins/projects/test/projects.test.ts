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

  describe('/projects and /projects/{project_id}: a project', () => {
    it('is created, read, changed and deleted', async () => {
      const created = await call('POST', '/projects', { name: 'vision', description: 'Images' });
      expect(created.status).to.equal(201);
      const { id, ...rest } = created.body;
      expect(id).to.match(/^prj_/);
      expect(rest).to.deep.equal({
        name: 'vision',
        description: 'Images',
        run_count: 0,
        created_at: clock.now(),
      });
      expect((await call('GET', `/projects/${id}`, undefined, 'read')).body).to.deep.equal(created.body);
      const changed = await call('PATCH', `/projects/${id}`, { name: 'sight' });
      expect(changed.body).to.deep.equal({ ...created.body, name: 'sight' });
      expect((await call('DELETE', `/projects/${id}`)).body).to.deep.equal(changed.body);
      expect((await call('GET', `/projects/${id}`)).status).to.equal(404);
    });

    it('keeps what a PATCH leaves out, all of it when that is empty', async () => {
      const { body } = await call('POST', '/projects', { name: newName(), description: 'stays' });
      expect((await call('PATCH', `/projects/${body.id}`, {})).body).to.deep.equal(body);
      const changed = await call('PATCH', `/projects/${body.id}`, { description: '' });
      expect(changed.body).to.deep.equal({ ...body, description: '' });
    });

    it('accepts its id without the prefix and in lower case', async () => {
      const { id } = await createProject();
      expect((await call('GET', `/projects/${id.slice(4).toLowerCase()}`)).body.id).to.equal(id);
    });

    it('has a name that no other has, also when many ask for it at once', async () => {
      const name = newName();
      const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/projects', { name })));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(7).fill(409)]);
      const taken = answers.find(({ status }) => status === 409)!.body.error;
      expect(taken.code).to.equal('conflict');
      expect(taken.message).to.include(name);
    });

    it('cannot take the name of another', async () => {
      const [one, two] = [await createProject(), await createProject()];
      const refused = await call('PATCH', `/projects/${two.id}`, { name: one.name });
      expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'conflict']);
      expect((await call('GET', `/projects/${two.id}`)).body.name).to.equal(two.name);
      expect((await call('PATCH', `/projects/${two.id}`, { name: two.name })).status).to.equal(200);
    });

    it('counts its runs, not its jobs', async () => {
      const { id } = await createProject();
      await put('runs', id);
      await put('runs', id);
      await put('jobs', id);
      expect((await call('GET', `/projects/${id}`)).body.run_count).to.equal(2);
      const { items } = (await call('GET', '/projects')).body;
      expect(items.find((item: { id: string }) => item.id === id).run_count).to.equal(2);
    });

    for (const what of ['runs', 'jobs', 'experiments']) {
      it(`is not deleted while it has ${what}`, async () => {
        const { id } = await createProject();
        await (what === 'experiments' ? createExperiment(id) : put(what, id));
        const refused = await call('DELETE', `/projects/${id}`);
        expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'conflict']);
        expect(refused.body.error.details).to.deep.equal({ [what]: 1 });
        expect(refused.body.error.message).to.include(`1 ${what}`);
        expect((await call('GET', `/projects/${id}`)).status).to.equal(200);
      });
    }

    it('is listed newest first, as many as asked for', async () => {
      const older = await createProject();
      await clock.advance(1);
      const newer = await createProject();
      const { items } = (await call('GET', '/projects?limit=2')).body;
      expect(items).to.deep.equal([newer, older]);
    });
  });
});
