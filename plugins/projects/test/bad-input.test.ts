import { newId } from '@svc/contract';
import { eachDatabase, type TestKernel } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

eachDatabase((database) => {
  let rig: Rig;
  let kernel: TestKernel;
  let call: Rig['call'];
  let newName: Rig['newName'];
  let createProject: Rig['createProject'];
  let createExperiment: Rig['createExperiment'];

  before(async () => {
    rig = await Rig.start(database);
    ({ kernel, call, newName, createProject, createExperiment } = rig);
  });
  after(() => rig.kernel.close());
  beforeEach(() => rig.clock.advance(1));

  describe('projects and experiments: bad input', () => {
    let project: { id: string };
    let experiment: { id: string };
    before(async () => {
      project = await createProject();
      experiment = await createExperiment(project.id);
    });

    const snapshot = async () => ({
      projects: await kernel.db('projects').orderBy('id'),
      experiments: await kernel.db('experiments').orderBy('id'),
    });

    const bodies: [string, unknown, string][] = [
      ['a name of the wrong type', { name: 7 }, 'name'],
      ['a name that is null', { name: null }, 'name'],
      ['an empty name', { name: '' }, 'name'],
      ['a blank name', { name: ' ' }, 'name'],
      ['a name that is too long', { name: 'x'.repeat(201) }, 'name'],
      ['a name with a control character', { name: 'a\u0007' }, 'name'],
      ['a name that looks like an id', { name: newId('project') }, 'name'],
      ['a name that looks like a bare id', { name: newId('run').slice(4) }, 'name'],
      ['an unknown field', { name: 'n', descripton: 'd' }, 'descripton'],
      ['a description of the wrong type', { name: 'n', description: {} }, 'description'],
      ['a description that is too long', { name: 'n', description: 'x'.repeat(10_001) }, 'description'],
      ['a description with NUL', { name: 'n', description: 'a\0b' }, 'description'],
      ['an array for a body', [], ''],
      ['malformed JSON', '{"name"', ''],
    ];
    const writes: [string, string, () => string][] = [
      ['POST', '/projects', () => '/projects'],
      ['PATCH', '/projects/{id}', () => `/projects/${project.id}`],
      ['POST', '/experiments', () => '/experiments'],
      ['PATCH', '/experiments/{id}', () => `/experiments/${experiment.id}`],
    ];
    for (const [method, title, path] of writes) {
      for (const [what, body, field] of bodies) {
        it(`${method} ${title} refuses ${what}, naming the field, and changes nothing`, async () => {
          const before = await snapshot();
          const answer = await call(method, path(), body);
          expect([answer.status, answer.body.error.code]).to.deep.equal([422, 'validation_error']);
          expect(answer.body.error.details.errors.map((issue: { path: string }) => issue.path)).to.include(
            field,
          );
          expect(await snapshot()).to.deep.equal(before);
        });
      }
      it(`${method} ${title} refuses a body over 1 MiB`, async () => {
        const answer = await call(method, path(), { name: 'x'.repeat(1024 * 1024) });
        expect([answer.status, answer.body.error.code]).to.deep.equal([413, 'payload_too_large']);
      });
    }

    for (const path of ['/projects', '/experiments']) {
      it(`POST ${path} needs a name`, async () => {
        const { body } = await call('POST', path, {});
        expect(body.error.details.errors[0].path).to.equal('name');
      });
      for (const limit of ['0', '1001', '1.5', 'many', '']) {
        it(`GET ${path} refuses limit=${limit}`, async () => {
          const { status, body } = await call('GET', `${path}?limit=${limit}`);
          expect([status, body.error.details.errors[0].path]).to.deep.equal([422, 'limit']);
        });
      }
      it(`GET ${path} refuses an unknown query parameter`, async () => {
        const { status, body } = await call('GET', `${path}?projct=1`);
        expect([status, body.error.details.errors[0].path]).to.deep.equal([422, 'projct']);
      });
      for (const id of [newId('project'), newId('experiment'), newId('job'), 'nonsense', '%00', '..%2f']) {
        it(`answers 404 to GET, PATCH and DELETE ${path}/${id}`, async () => {
          for (const [method, body] of [['GET'], ['PATCH', { name: newName() }], ['DELETE']] as const) {
            const answer = await call(method, `${path}/${id}`, body);
            expect([answer.status, answer.body.error.code], method).to.deep.equal([404, 'not_found']);
          }
        });
      }
    }

    for (const id of [newId('project'), 'nonsense']) {
      it(`answers 404 to the project_id ${id} of an experiment, and creates nothing`, async () => {
        const before = await snapshot();
        expect((await call('POST', '/experiments', { name: newName(), project_id: id })).status).to.equal(
          404,
        );
        expect((await call('PATCH', `/experiments/${experiment.id}`, { project_id: id })).status).to.equal(
          404,
        );
        expect((await call('GET', `/experiments?project_id=${id}`)).status).to.equal(404);
        expect(await snapshot()).to.deep.equal(before);
      });
    }

    const endpoints: [string, () => string, unknown, boolean][] = [
      ['GET', () => '/projects', undefined, false],
      ['POST', () => '/projects', { name: 'refused' }, true],
      ['GET', () => `/projects/${project.id}`, undefined, false],
      ['PATCH', () => `/projects/${project.id}`, { name: 'refused' }, true],
      ['DELETE', () => `/projects/${project.id}`, undefined, true],
      ['GET', () => '/experiments', undefined, false],
      ['POST', () => '/experiments', { name: 'refused' }, true],
      ['GET', () => `/experiments/${experiment.id}`, undefined, false],
      ['PATCH', () => `/experiments/${experiment.id}`, { name: 'refused' }, true],
      ['DELETE', () => `/experiments/${experiment.id}`, undefined, true],
    ];
    it('is refused without a token, or with too low a scope, and changes nothing', async () => {
      const before = await snapshot();
      for (const [method, path, body, writes] of endpoints) {
        const title = `${method} ${path()}`;
        expect((await kernel.request(method, path(), { body })).body.error.code, title).to.equal(
          'unauthorized',
        );
        expect((await call(method, path(), body, 'unknown')).body.error.code, title).to.equal('unauthorized');
        for (const scope of ['sdk', 'agent', ...(writes ? ['read'] : [])]) {
          const { status, body: answer } = await call(method, path(), body, scope);
          expect([status, answer.error.code], `${title} as ${scope}`).to.deep.equal([403, 'forbidden']);
        }
      }
      expect(await snapshot()).to.deep.equal(before);
    });
  });
});
