import type { EventRecord } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

eachDatabase((database) => {
  describe('GET /events?names=true', () => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database })));
    after(() => rig.close());

    it('has the names that the runs, jobs and nodes of its events have now', async () => {
      const agent = await rig.agent();
      const job = await rig.submit({ name: 'of a job', node_selector: { node: agent.nodeId } });
      await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      const run = await rig.createRun({ name: 'before' });
      await rig.patch(`/runs/${run.id}`, { name: 'after' });
      const { items, names } = (await rig.get('/events?names=true')).body as {
        items: EventRecord[];
        names: Record<string, string>;
      };
      expect(names).to.include({ [job.id]: 'of a job', [run.id]: 'after' });
      const ids = items.flatMap(({ run_id, job_id, node_id }) => [run_id, job_id, node_id]);
      expect(Object.keys(names)).to.have.members([...new Set(ids.filter((id) => id !== null))]);
      const { body } = await rig.get(`/events?run_id=${run.id}&names=true&limit=1`);
      expect(body.names).to.deep.equal({ [run.id]: 'after' });
      expect((await rig.get('/events')).body).not.to.have.property('names');
    });
  });
});
