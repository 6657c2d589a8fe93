import { newId } from '@svc/contract';
import { definePlugin, type Db } from '@svc/kernel';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { projects, projectsRef, type PlacementLevel } from '@svc/plugin-projects';
import { expect } from 'chai';

/** Keeps records under projects, as runs and jobs do: a table of its own, counted and moved through the registry. */
const keeperOf = (noun: string) =>
  definePlugin({
    name: `${noun}-keeper`,
    requires: ['projects'],
    setup(ctx) {
      ctx.migrations([
        {
          name: '0001-init',
          up: (db) =>
            db.schema.createTable(`test_${noun}`, (table) => {
              table.string('project_id').references('id').inTable('projects');
              table.string('experiment_id').references('id').inTable('experiments');
            }),
        },
      ]);
      ctx.use(projectsRef).countUsage({
        noun,
        async count(db: Db, level: PlacementLevel, ids: readonly string[]) {
          const rows = await db(`test_${noun}`)
            .whereIn(`${level}_id`, ids)
            .select({ id: `${level}_id` });
          const counts = new Map<string, number>();
          for (const { id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
          return counts;
        },
        async move(db: Db, experiment_id: string, project_id: string) {
          await db(`test_${noun}`).where({ experiment_id }).update({ project_id });
        },
      });
    },
  })();

eachDatabase((database) => {
  describe('projects and experiments', () => {
    let kernel: TestKernel;
    let clock: FakeClock;
    let nameCount = 0;

    before(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({
        plugins: [projects(), keeperOf('runs'), keeperOf('jobs')],
        database,
        clock,
      });
    });
    after(() => kernel.close());
    beforeEach(() => clock.advance(1));

    const call = (method: string, path: string, body?: unknown, token = 'write') =>
      kernel.request(method, path, { token, body });
    const newName = () => `name ${(nameCount += 1)}`;
    const createProject = async (name = newName()) => (await call('POST', '/projects', { name })).body;
    const createExperiment = async (project_id: string, name = newName()) =>
      (await call('POST', '/experiments', { name, project_id })).body;
    const put = (noun: string, project_id: string, experiment_id: string | null = null) =>
      kernel.db(`test_${noun}`).insert({ project_id, experiment_id });

    describe('a project', () => {
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
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => call('POST', '/projects', { name })),
        );
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

    describe('an experiment', () => {
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

    describe('bad input', () => {
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
          expect((await call(method, path(), body, 'unknown')).body.error.code, title).to.equal(
            'unauthorized',
          );
          for (const scope of ['sdk', 'agent', ...(writes ? ['read'] : [])]) {
            const { status, body: answer } = await call(method, path(), body, scope);
            expect([status, answer.error.code], `${title} as ${scope}`).to.deep.equal([403, 'forbidden']);
          }
        }
        expect(await snapshot()).to.deep.equal(before);
      });
    });
  });
});
