import Database from 'better-sqlite3';
import { expect } from 'chai';
import { join } from 'node:path';
import { count, MetricsRig, pointsOf } from './support/metrics-rig.js';

describe('points in a database that another process writes to', () => {
  let rig: MetricsRig;
  before(async () => (rig = await MetricsRig.start()));
  after(() => rig.close());

  it('are read meanwhile', async () => {
    const run = await rig.newRun();
    await rig.write(run, pointsOf('loss', count(3)));
    const writer = new Database(join(rig.http.kernel.dataDir, 'svc.db'));
    writer.exec('BEGIN EXCLUSIVE');
    try {
      expect((await rig.series(run))['loss']?.values).to.deep.equal([0, 1, 2]);
      expect((await rig.summary(run)).metrics['loss']?.count).to.equal(3);
      const asked = await rig.http.post('/runs/metrics:query', { run_ids: [run.id], names: ['loss'] });
      expect(asked.status).to.equal(200);
    } finally {
      writer.close();
    }
  });
});
