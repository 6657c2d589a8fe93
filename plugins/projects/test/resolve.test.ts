import { newId } from '@svc/contract';
import type { Db, HttpError } from '@svc/kernel';
import { createTestKernel, eachDatabase, until, type TestKernel } from '@svc/kernel/testing';
import { projects, projectsRef, type PlacementInput } from '@svc/plugin-projects';
import { expect } from 'chai';

eachDatabase((database) => {
  describe('resolve', () => {
    let kernel: TestKernel;
    let nameCount = 0;
    before(async () => {
      kernel = await createTestKernel({ plugins: [projects()], database });
    });
    after(() => kernel.close());

    const newName = () => `name ${(nameCount += 1)}`;
    const resolve = (input: PlacementInput, db: Db = kernel.db) =>
      kernel.use(projectsRef).resolve(db, input, 1_000);
    const counts = async () => [
      (await kernel.db('projects')).length,
      (await kernel.db('experiments')).length,
    ];
    async function errorOf(input: PlacementInput): Promise<HttpError> {
      return resolve(input).then(
        () => expect.fail('it was resolved'),
        (error: unknown) => error as HttpError,
      );
    }

    for (const nothing of [{}, { project: null, experiment: null }, { project: undefined }]) {
      it(`places ${JSON.stringify(nothing)} nowhere, and creates nothing`, async () => {
        const before = await counts();
        expect(await resolve(nothing)).to.deep.equal({
          project_id: null,
          experiment_id: null,
          project: null,
          experiment: null,
        });
        expect(await counts()).to.deep.equal(before);
      });
    }

    it('creates what is unknown by name, and finds it the next time', async () => {
      const [project, experiment] = [newName(), newName()];
      const first = await resolve({ project, experiment });
      expect(first).to.include({ project, experiment });
      expect(await resolve({ project, experiment })).to.deep.equal(first);
      const stored = await kernel.use(projectsRef).requireProject(kernel.db, first.project_id!);
      expect(stored).to.deep.equal({
        id: first.project_id,
        name: project,
        description: '',
        run_count: 0,
        created_at: 1_000,
      });
    });

    it('puts an experiment without a project into the project default', async () => {
      const { project } = await resolve({ experiment: newName() });
      expect(project).to.equal('default');
    });

    it('tells experiments of one name apart by their project', async () => {
      const experiment = newName();
      const one = await resolve({ project: newName(), experiment });
      const two = await resolve({ project: newName(), experiment });
      expect(one.experiment_id).not.to.equal(two.experiment_id);
    });

    it('takes ids, with or without their prefix', async () => {
      const placed = await resolve({ project: newName(), experiment: newName() });
      const { project_id, experiment_id } = placed;
      expect(await resolve({ project: project_id, experiment: experiment_id })).to.deep.equal(placed);
      expect(
        await resolve({ project: project_id!.slice(4), experiment: experiment_id!.slice(4) }),
      ).to.deep.equal(placed);
      expect(await resolve({ experiment: experiment_id })).to.deep.equal(placed);
      expect(await resolve({ project: placed.project, experiment: experiment_id })).to.deep.equal(placed);
      expect(await resolve({ project: project_id, experiment: placed.experiment })).to.deep.equal(placed);
    });

    const unknown: PlacementInput[] = [
      { project: newId('project') },
      { project: newId('project').slice(4) },
      { project: newId('experiment') },
      { experiment: newId('experiment') },
      { experiment: newId('job') },
      { project: newId('project'), experiment: 'by name' },
      { project: 'by name', experiment: newId('experiment') },
    ];
    for (const input of unknown) {
      it(`answers not_found to the unknown id of ${JSON.stringify(Object.keys(input))} and creates nothing`, async () => {
        const before = await counts();
        expect((await errorOf(input)).code).to.equal('not_found');
        expect(await counts()).to.deep.equal(before);
      });
    }

    it('refuses the experiment of another project, whether that exists or not, and creates nothing', async () => {
      const { experiment_id: experiment } = await resolve({ project: newName(), experiment: newName() });
      const other = await resolve({ project: newName() });
      const before = await counts();
      for (const project of [other.project, other.project_id, newName()]) {
        const error = await errorOf({ project, experiment });
        expect([error.status, error.code]).to.deep.equal([422, 'validation_error']);
        expect((error.details['errors'] as { path: string }[])[0]!.path).to.equal('experiment');
      }
      expect((await errorOf({ project: newId('project'), experiment })).code).to.equal('not_found');
      expect(await counts()).to.deep.equal(before);
    });

    it('gives everybody who names the same new project at the same time the same one', async () => {
      const [project, experiment] = [newName(), newName()];
      const placed = await Promise.all(
        Array.from({ length: 20 }, () =>
          kernel.db.transaction((trx) => resolve({ project, experiment }, trx)),
        ),
      );
      expect(new Set(placed.map(({ project_id }) => project_id)).size).to.equal(1);
      expect(new Set(placed.map(({ experiment_id }) => experiment_id)).size).to.equal(1);
    });

    it('leaves nothing behind when its transaction rolls back', async () => {
      const before = await counts();
      const rolledBack = kernel.db.transaction(async (trx) => {
        await resolve({ project: newName(), experiment: newName() }, trx);
        throw new Error('roll back');
      });
      await rolledBack.catch(() => undefined);
      expect(await counts()).to.deep.equal(before);
    });

    it('keeps the experiment from being deleted until its transaction has ended', async () => {
      const placed = await resolve({ project: newName(), experiment: newName() });
      const order: string[] = [];
      let deletion: Promise<unknown> | undefined;
      await kernel.db.transaction(async (trx) => {
        await resolve({ project: placed.project, experiment: placed.experiment }, trx);
        deletion = kernel
          .request('DELETE', `/experiments/${placed.experiment_id}`, { token: 'write' })
          .then(() => order.push('deleted'));
        if (database.client === 'postgres') await until(() => isSomeoneWaiting(trx));
        order.push('stored');
      });
      await deletion;
      expect(order).to.deep.equal(['stored', 'deleted']);
    });
  });
});

async function isSomeoneWaiting(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  );
  return rows.length > 0;
}
