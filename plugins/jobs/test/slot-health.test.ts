import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { createDataDir, EXIT_OK, Lab, virtualSlots } from './support/lab.js';

const QUARANTINED = {
  state: 'quarantined',
  reason: 'is still used by python (pid 4711, 10 GiB) of a job that has ended',
  since: 1_700_000_000_000,
} as const;

const slots = (health?: typeof QUARANTINED) =>
  virtualSlots(1).map((slot) => ({ ...slot, ...(health && { health }) }));

describe('the health of slots', () => {
  eachDatabase((database) => {
    let lab: Lab | undefined;
    afterEach(async () => {
      await lab?.close();
      lab = undefined;
    });

    it('told before the end of an attempt keeps the next job from its slot, until it is told to be well', async () => {
      lab = await Lab.open({ database });
      const agent = await lab.agent({ slots: slots() });
      const [first, second] = [await lab.submit(), await lab.submit()];
      const running = await agent.start({ job_id: first.id });
      agent.send({ type: 'slots', slots: slots(QUARANTINED) });
      agent.ended(running, EXIT_OK);
      await lab.reach(first.id, 'SUCCEEDED');
      const waiting = await lab.when(second.id, ({ pending_reason }) =>
        /^waiting.*: GPU 0/.test(pending_reason ?? ''),
      );
      expect(waiting.pending_reason).to.equal(`waiting for 1 free GPU: GPU 0 of gpu-1 ${QUARANTINED.reason}`);
      expect(agent.count('dispatch')).to.equal(1);
      agent.send({ type: 'slots', slots: slots() });
      await agent.take('dispatch', { job_id: second.id });
    });

    it('is kept over many ends: none is followed by a dispatch that comes too early', async () => {
      lab = await Lab.open({ database });
      const agent = await lab.agent({ slots: slots() });
      for (let round = 0; round < 5; round += 1) {
        const job = await lab.submit();
        const running = await agent.start({ job_id: job.id });
        const next = await lab.submit();
        agent.send({ type: 'slots', slots: slots(QUARANTINED) });
        agent.ended(running, EXIT_OK);
        await lab.reach(job.id, 'SUCCEEDED');
        await lab.when(next.id, ({ pending_reason }) => pending_reason?.includes('is still used') === true);
        expect((await lab.job(next.id)).status).to.equal('QUEUED');
        agent.send({ type: 'slots', slots: slots() });
        agent.ended(await agent.start({ job_id: next.id }), EXIT_OK);
        await lab.reach(next.id, 'SUCCEEDED');
      }
    });

    it('is that of the slots that an agent names later', async () => {
      lab = await Lab.open({ database });
      const agent = await lab.agent({ slots: [] });
      const { id } = await lab.submit();
      await lab.when(id, ({ pending_reason }) => pending_reason === 'needs 1 GPU: no online node has one');
      agent.send({ type: 'slots', slots: slots() });
      await agent.take('dispatch', { job_id: id });
    });
  });

  it('is remembered by a server that was restarted', async () => {
    const dir = createDataDir();
    const before = await Lab.open({ dataDir: dir.path });
    const agent = await before.agent({ slots: slots(QUARANTINED) });
    await before.close();
    const after = await Lab.open({ dataDir: dir.path });
    const { body } = await after.request('GET', `/nodes/${agent.nodeId}`);
    expect((body as { slots: { health: object }[] }).slots[0]?.health).to.deep.equal(QUARANTINED);
    await after.close();
    dir.remove();
  });
});
