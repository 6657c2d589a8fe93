import { fromJson } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { runsMigrations } from '../src/migrations.js';
import { Rig } from './support/rig.js';

eachDatabase((database) => {
  it('runs made before there was a search are found by name and tags', async () => {
    const rig = await Rig.start({ database });
    try {
      const { db } = rig.kernel;
      const run = await rig.createRun({ name: 'Before', tags: ['old', 'kept'], config: { lr: 1 } });
      await db.schema.dropTable('run_documents');
      await db.schema.dropTable('run_tags');
      await db.schema.alterTable('runs', (table) => table.dropColumn('search_name'));
      const migration = runsMigrations.find(({ name }) => name === '0002-search');
      await db.transaction((trx) => migration!.up(trx));
      for (const filter of ['q=before', 'tags=old,kept'])
        expect((await rig.get(`/runs?${filter}`)).body.items[0]).to.deep.include({
          id: run.id,
          config: { lr: 1 },
        });
      const [{ tags }] = await db('runs').select('tags');
      expect(fromJson(tags)).to.deep.equal(['old', 'kept']);
    } finally {
      await rig.close();
    }
  });

  it('runs that were RUNNING before there were signs of life are expected to give them', async () => {
    const rig = await Rig.start({ database });
    try {
      const { db } = rig.kernel;
      const open = await rig.createRun();
      const ended = await rig.createRun();
      await rig.post(`/runs/${ended.id}/finish`, { status: 'FAILED' });
      await db.schema.alterTable('runs', (table) => table.dropColumns('seen_at', 'stale_since'));
      const migration = runsMigrations.find(({ name }) => name === '0003-signs-of-life');
      await db.transaction((trx) => migration!.up(trx));
      const rows = await db('runs').select('id', 'seen_at');
      expect(Object.fromEntries(rows.map(({ id, seen_at }) => [id, seen_at]))).to.deep.equal({
        [open.id]: open.started_at,
        [ended.id]: null,
      });
    } finally {
      await rig.close();
    }
  });
});
