import { newId, type Checkpoint, type Run, type Scope } from '@svc/contract';
import { createTestKernel, eachDatabase, fakeClock, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { checkpoints } from '@svc/plugin-checkpoints';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runs, runsRef } from '@svc/plugin-runs';
import { expect } from 'chai';

eachDatabase((database) => {
  describe('the checkpoints of all runs are filtered', () => {
    const clock = fakeClock();
    let kernel: TestKernel;
    const tokens = {} as Record<Scope, string>;

    before(async () => {
      const plugins = [auth(), projects(), events(), nodes(), jobs(), runs(), checkpoints()];
      kernel = await createTestKernel({ plugins, database, clock });
      for (const scope of ['read', 'sdk'] as const)
        tokens[scope] = (
          await createToken(kernel.db, { name: scope, scope, expires_at: null }, clock.now())
        ).token;
    });
    after(() => kernel.close());

    const get = (path: string) => kernel.request('GET', path, { token: tokens.read });
    const register = (body: unknown, token: string, id: string) =>
      kernel.request('POST', `/runs/${id}/checkpoints`, { token, body });

    const paths = async (query: string) =>
      (await get(`/checkpoints?${query}`)).body.items.map(({ path }: Checkpoint) => path);
    const inPlace = async (place: object, name: string, path: string) => {
      const { body } = await kernel.request('POST', '/runs', {
        token: tokens.sdk,
        body: { name, ...place },
      });
      await clock.advance(1);
      await register({ path }, body.ingest_token, body.id);
      return body as Run;
    };

    it('by run, experiment and project, each by any form of its id', async () => {
      const one = await inPlace({ project: 'filtered', experiment: 'a' }, 'one', '/filtered/1');
      const two = await inPlace({ project: 'filtered', experiment: 'b' }, 'two', '/filtered/2');
      expect(await paths(`project_id=${one.project_id}`)).to.deep.equal(['/filtered/2', '/filtered/1']);
      expect(await paths(`project_id=${one.project_id}&limit=1`)).to.deep.equal(['/filtered/2']);
      const of = one.experiment_id!.slice(4).toLowerCase();
      expect(await paths(`experiment_id=${of}`)).to.deep.equal(['/filtered/1']);
      expect(await paths(`experiment_id=${one.experiment_id}&run_id=${two.id}`)).to.deep.equal([]);
      expect(await paths(`run_id=${two.id}&project_id=${two.project_id}`)).to.deep.equal(['/filtered/2']);
      expect((await get(`/checkpoints?project_id=${one.experiment_id}`)).status).to.equal(404);
      expect((await get(`/checkpoints?run_id=${newId('run')}`)).status).to.equal(404);
    });

    it('by words of the path and of the name of the run, which stand for themselves', async () => {
      const { project_id: id } = await inPlace({ project: 'searched' }, 'Großer Lauf', '/s/Best_100%.pt');
      await inPlace({ project: 'searched' }, 'small', '/s/bestx100x.pt');
      const find = (q: string) => paths(`project_id=${id}&q=${encodeURIComponent(q)}`);
      expect(await find('BEST')).to.deep.equal(['/s/bestx100x.pt', '/s/Best_100%.pt']);
      expect(await find('best_100%')).to.deep.equal(['/s/Best_100%.pt']);
      expect(await find('GROSSER')).to.deep.equal([]);
      expect(await find('GROßER .pt')).to.deep.equal(['/s/Best_100%.pt']);
      expect(await find('small großer')).to.deep.equal([]);
      expect((await get(`/checkpoints?q=${'a'.repeat(201)}`)).status).to.equal(422);
    });

    it('without those of a run that is being deleted', async () => {
      const gone = await inPlace({ project: 'emptied' }, 'gone', '/emptied');
      await kernel.use(runsRef).markDeleted(kernel.db, [gone.id]);
      expect(await paths(`project_id=${gone.project_id}`)).to.deep.equal([]);
    });
  });
});
