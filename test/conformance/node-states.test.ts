import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { KILLED, toReport } from '../../plugins/jobs/test/support/lab.js';
import { onClock, onHost, type HostStage } from '../support/state-stage.js';

/** The specification's table of node states, row by row. */
describe('the table of node states', function () {
  this.timeout(120_000);

  it('online | no heartbeat for 90 seconds | OFFLINE | RUNNING jobs on it enter the recovery flow', () =>
    onClock(async ({ lab, clock, passUntil, run }) => {
      const agent = await lab.agent();
      const silentSince = clock.now();
      const { job, dispatch } = await run(agent, { max_attempts: 2 });
      const status = async () => (await lab.nodes.get(lab.kernel.db, agent.nodeId))?.status;
      await clock.advance(85_000);
      expect(await status()).to.equal('ONLINE');
      expect(await passUntil(job, 'LOST')).to.include({ failure_reason: 'LOST' });
      expect(await status()).to.equal('OFFLINE');
      expect(clock.now() - silentSince)
        .to.be.at.least(90_000)
        .and.at.most(110_000);
      const { body } = await lab.request('GET', `/events?type=AGENT_DISCONNECTED&node_id=${agent.nodeId}`);
      expect(body.items).to.have.length(1);
      // The recovery flow: it waits for the node, and is given to another when that stays away.
      expect(await passUntil(job, 'QUEUED')).to.include({ attempt: 2 });
      expect(clock.now() - silentSince).to.be.at.least(690_000);
      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
      expect(verdicts.map(({ verdict }) => verdict)).to.deep.equal(['stop']);
      agent.ended(dispatch, KILLED);
      await agent.take('forget');
    })());

  it('OFFLINE | agent reconnects | online | spooled data is replayed', () =>
    onHost(async (stage) => {
      const { lab, proxy, agent, dir, sh, lines } = stage;
      const enough = path.join(dir, 'enough');
      const count = `i=0; while [ ! -e ${enough} ]; do i=$((i+1)); echo $i; sleep 0.01; done`;
      const job = await sh(count);
      await until(async () => (await lines(job)).length > 10);
      proxy.cut('refuse', 'all');
      await reachStatus(stage, 'OFFLINE');
      await lab.reach(job.id, 'LOST');
      const known = (await lines(job)).length;
      proxy.heal();
      await reachStatus(stage, 'ONLINE');
      await lab.reach(job.id, 'RUNNING');
      await until(async () => (await lines(job)).length > known + 50);
      await writeFile(enough, '');
      expect(await lab.reach(job.id, 'SUCCEEDED')).to.include({ attempt: 1, exit_code: 0 });
      const answer = await fetch(`${lab.kernel.url}/api/v1/jobs/${job.id}/logs/download`, {
        headers: { authorization: 'Bearer read' },
      });
      const numbers = (await answer.text()).trimEnd().split('\n').map(Number);
      expect(numbers, 'each line once, in order').to.deep.equal(numbers.map((_, index) => index + 1));
      expect(numbers.length).to.be.greaterThan(known + 50);
      const node = await lab.nodes.get(lab.kernel.db, agent.nodeId);
      expect(node).to.include({ status: 'ONLINE' });
    })());

  async function reachStatus({ lab, agent }: HostStage, wanted: string): Promise<void> {
    await until(async () => (await lab.nodes.get(lab.kernel.db, agent.nodeId))?.status === wanted);
  }
});
