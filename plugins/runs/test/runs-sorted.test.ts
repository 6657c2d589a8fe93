import { RUN_FIELDS, type Run } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

eachDatabase((database) => {
  let rig: Rig;
  before(async () => void (rig = await Rig.start({ database })));
  after(() => rig.close());

  const list = async (query: string): Promise<{ items: Run[]; total?: number }> => {
    const { status, body } = await rig.get(`/runs?${query}`);
    expect(status, `${query} ${JSON.stringify(body)}`).to.equal(200);
    return body;
  };
  const namesOf = ({ items }: { items: readonly Run[] }) => items.map(({ name }) => name);
  const create = async (project: string, runs: readonly object[]): Promise<string> => {
    let id = '';
    for (const run of runs) id = (await rig.createRun({ project, ...run })).project_id as string;
    return `project_id=${id}`;
  };

  describe('GET /runs?sort=', () => {
    it('sorts all that match by a field, and names with their numbers as numbers', async () => {
      const of = await create('fields', [{ name: 'run 10' }, { name: 'Run 9' }, { name: 'other' }]);
      const sorted = async (sort: string) => namesOf(await list(`${of}&sort=${sort}`));
      expect(await sorted('name')).to.deep.equal(['other', 'Run 9', 'run 10']);
      expect(await sorted('-name')).to.deep.equal(['run 10', 'Run 9', 'other']);
      expect(await sorted('created')).to.deep.equal(['run 10', 'Run 9', 'other']);
      expect(await sorted('-created')).to.deep.equal(['other', 'Run 9', 'run 10']);
      expect(namesOf(await list(`${of}&sort=name&q=run`))).to.deep.equal(['Run 9', 'run 10']);
    });

    for (const field of RUN_FIELDS) {
      it(`has every run, sorted by ${field}`, async () => {
        const of = await create(`by ${field}`, [
          { name: 'a', tags: ['x'] },
          { name: 'b', experiment: 'e' },
        ]);
        for (const sort of [field, `-${field}`]) {
          const { items, total } = await list(`${of}&sort=${sort}`);
          expect(namesOf({ items })).to.have.members(['a', 'b']);
          expect(total).to.equal(2);
        }
      });
    }

    it('sorts by the names of experiments, and by how long runs took', async () => {
      const of = await create('places', [
        { name: 'second', experiment: 'b', started_at: 1000 },
        { name: 'first', experiment: 'a', started_at: 2000 },
        { name: 'none' },
      ]);
      expect(namesOf(await list(`${of}&sort=experiment`))).to.deep.equal(['first', 'second', 'none']);
      expect(namesOf(await list(`${of}&sort=-duration`))).to.deep.equal(['second', 'first', 'none']);
    });

    it('sorts by an entry of the config: numbers, then texts, nothing last in both directions', async () => {
      const configs = [
        { opt: { lr: 0.1 } },
        { 'opt.lr': 3 },
        { opt: { lr: 'warm' } },
        { other: 1 },
        { opt: { lr: 0.02 } },
      ];
      const of = await create(
        'configs',
        configs.map((config, at) => ({ name: `c${at}`, config })),
      );
      expect(namesOf(await list(`${of}&sort=config:opt.lr`))).to.deep.equal(['c4', 'c0', 'c1', 'c2', 'c3']);
      expect(namesOf(await list(`${of}&sort=-config:opt.lr`))).to.deep.equal(['c1', 'c0', 'c4', 'c2', 'c3']);
    });

    it('goes on behind the run that `before` names, each run once, also when all have the same value', async () => {
      const count = 300;
      const of = await create(
        'pages',
        Array.from({ length: count }, (_, at) => ({ name: `p${at}`, config: { seed: (at * 7) % 50 } })),
      );
      for (const sort of ['config:seed', '-config:seed', 'status', 'config:none']) {
        const whole = (await list(`${of}&sort=${sort}&limit=1000`)).items.map(({ id }) => id);
        expect(new Set(whole).size).to.equal(count);
        const paged: string[] = [];
        for (let last = ''; ; last = `&before=${paged.at(-1)}`) {
          const { items, total } = await list(`${of}&sort=${sort}&limit=70${last}`);
          expect(total).to.equal(count);
          if (items.length === 0) break;
          paged.push(...items.map(({ id }) => id));
        }
        expect(paged).to.deep.equal(whole);
      }
    });

    it('goes on behind a run that does not match any more', async () => {
      const runs = ['a', 'b', 'c'].map((name) => ({ name }));
      const of = `${await create('left', runs)}&sort=name&status=RUNNING`;
      const [, b] = (await list(of)).items;
      await rig.post(`/runs/${b!.id}/finish`, { status: 'FAILED' });
      expect(namesOf(await list(`${of}&before=${b!.id}`))).to.deep.equal(['c']);
      expect((await rig.get(`/runs?${of}&before=run_01HZZZZZZZZZZZZZZZZZZZZZZZ`)).status).to.equal(404);
    });

    it('refuses a column that there is not, and a metric where no plugin has metrics', async () => {
      for (const sort of ['', 'colour', 'best:', '--name', 'config']) {
        const { status, body } = await rig.get(`/runs?sort=${sort}`);
        expect(status, sort).to.equal(422);
        expect(body.error.details.errors[0].path).to.equal('sort');
      }
      await rig.createRun();
      expect((await rig.get('/runs?sort=best:loss')).body.error.message).to.contain(
        'no plugin of this server has metrics',
      );
    });
  });

  describe('GET /runs?total=true', () => {
    it('counts what matches on all pages, and nothing without it', async () => {
      const of = await create('total', [{ name: 'one' }, { name: 'two' }, { name: 'two more', tags: ['t'] }]);
      expect((await list(`${of}&limit=1&total=true`)).total).to.equal(3);
      expect((await list(`${of}&q=two&total=true`)).total).to.equal(2);
      expect((await list(`${of}&tags=t&total=true`)).total).to.equal(1);
      expect((await list(`${of}&q=three&total=true`)).total).to.equal(0);
      expect(await list(of)).not.to.have.property('total');
    });
  });
});
