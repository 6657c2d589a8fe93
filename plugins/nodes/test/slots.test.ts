import { FakeAgent, virtualSlots } from '@svc/agent/testing';
import { newId, type Hello } from '@svc/contract';
import type { Db } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { enrol } from '../src/enrol.js';
import { nodesMigrations } from '../src/migrations.js';
import { getNode, loadCapacity, setDraining } from '../src/node-store.js';
import { claim, listHoldings, release } from '../src/slot-store.js';

describe('slots', () => {
  eachDatabase((database) => {
    let db: Db;
    let nodeId: string;
    const jobA = { job_id: newId('job'), attempt: 1 };
    const jobB = { job_id: newId('job'), attempt: 1 };

    const hello = (changes: Partial<Hello> = {}) =>
      new FakeAgent({ url: '', hello: { node_id: nodeId } }).toHello(changes);
    const claimIn = (gpu_indices: number[], key = jobA) =>
      db.transaction((trx) => claim(trx, { node_id: nodeId, gpu_indices, ...key }));
    const slots = async () => (await getNode(db, nodeId))?.slots.map(({ index, job_id }) => [index, job_id]);

    beforeEach(async () => {
      db = await database.open({ nodes: nodesMigrations });
      nodeId = newId('node');
      await enrol(db, hello({ slots: virtualSlots(4) }), 1000);
    });

    it('claims exactly the named slots, and shows their holder', async () => {
      expect(await claimIn([1, 2])).to.equal(true);
      expect(await slots()).to.deep.equal([
        [0, null],
        [1, jobA.job_id],
        [2, jobA.job_id],
        [3, null],
      ]);
      expect((await getNode(db, nodeId))?.busy).to.equal(true);
      expect(await listHoldings(db, nodeId)).to.deep.equal([{ ...jobA, gpu_indices: [1, 2] }]);
    });

    it('claims all or nothing', async () => {
      await claimIn([1]);
      expect(await claimIn([0, 1], jobB)).to.equal(false);
      expect(await claimIn([3, 4], jobB)).to.equal(false);
      expect(await slots()).to.deep.equal([
        [0, null],
        [1, jobA.job_id],
        [2, null],
        [3, null],
      ]);
    });

    it('claims nothing more for an attempt that holds something there already', async () => {
      await claimIn([1]);
      expect(await claimIn([2])).to.equal(false);
      expect(await claimIn([])).to.equal(false);
      expect(await listHoldings(db, nodeId)).to.deep.equal([{ ...jobA, gpu_indices: [1] }]);
      await claimIn([], jobB);
      expect(await claimIn([], jobB)).to.equal(false);
      expect(await claimIn([0], { ...jobA, attempt: jobA.attempt + 1 })).to.equal(true);
    });

    it('gives none that is not healthy, and says why', async () => {
      const [first, second] = virtualSlots(2);
      const health = { state: 'foreign', reason: 'is used by python (pid 7)', since: 1500 } as const;
      await enrol(db, hello({ slots: [{ ...first!, health }, second!] }), 2000);
      expect(await claimIn([0])).to.equal(false);
      expect(await claimIn([0, 1])).to.equal(false);
      expect(await claimIn([1])).to.equal(true);
      const [node] = await loadCapacity(db, () => true);
      expect(node?.slots.map(({ trouble }) => trouble)).to.deep.equal([health.reason, null]);
      expect((await getNode(db, nodeId))?.slots.map((slot) => slot.health)).to.deep.equal([
        health,
        { state: 'ok', reason: null, since: null },
      ]);
      await enrol(db, hello({ slots: virtualSlots(2) }), 3000);
      expect(await claimIn([0], jobB)).to.equal(true);
    });

    it('never gives one slot to two, however many ask at once', async () => {
      const keys = Array.from({ length: 12 }, () => ({ job_id: newId('job'), attempt: 1 }));
      const taken = await Promise.all(keys.map((key, index) => claimIn([index % 4], key)));
      expect(taken.filter(Boolean)).to.have.length(4);
      expect(await listHoldings(db, nodeId)).to.have.length(4);
    });

    it('frees what one attempt holds, and nothing of another', async () => {
      await claimIn([0, 1]);
      await claimIn([2], { ...jobA, attempt: 2 });
      expect(await release(db, nodeId, jobA)).to.equal(true);
      expect(await release(db, nodeId, jobA)).to.equal(false);
      expect(await listHoldings(db, nodeId)).to.deep.equal([
        { job_id: jobA.job_id, attempt: 2, gpu_indices: [2] },
      ]);
    });

    it('counts cpu-only jobs against the cap of the node', async () => {
      await enrol(db, hello({ max_cpu_jobs: 2, slots: virtualSlots(4) }), 2000);
      expect(await claimIn([])).to.equal(true);
      expect(await claimIn([], jobB)).to.equal(true);
      expect(await claimIn([], { job_id: newId('job'), attempt: 1 })).to.equal(false);
      expect(await getNode(db, nodeId)).to.include({ cpu_jobs: 2, max_cpu_jobs: 2, busy: true });
      expect(await release(db, nodeId, jobB)).to.equal(true);
      expect((await getNode(db, nodeId))?.cpu_jobs).to.equal(1);
    });

    it('keeps to the cap when many ask at once', async () => {
      const keys = Array.from({ length: 10 }, () => ({ job_id: newId('job'), attempt: 1 }));
      const taken = await Promise.all(keys.map((key) => claimIn([], key)));
      expect(taken.filter(Boolean)).to.have.length(4);
    });

    it('gives nothing on a draining node', async () => {
      await setDraining(db, nodeId, true);
      expect(await claimIn([0])).to.equal(false);
      expect(await claimIn([])).to.equal(false);
    });

    it('takes slots that the agent newly names, and drops those it no longer does, but never one that a job holds', async () => {
      await claimIn([2]);
      await enrol(db, hello({ slots: virtualSlots(1, 'H200') }), 2000);
      expect(await slots()).to.deep.equal([
        [0, null],
        [2, jobA.job_id],
      ]);
      const [node] = await loadCapacity(db, () => true);
      expect(node?.slots).to.deep.equal([
        { index: 0, model: 'H200', free: true, health: 'ok', trouble: null },
      ]);
      expect(await claimIn([2], jobB)).to.equal(false);
      await release(db, nodeId, jobA);
      expect(await slots()).to.deep.equal([[0, null]]);
    });
  });
});
