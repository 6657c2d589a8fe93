import { until } from '@svc/kernel/testing';
import type { Job } from '@svc/contract';
import { expect } from 'chai';
import { findMarked } from '../support/processes.js';
import { onHost, type HostStage } from '../support/state-stage.js';

/** Ignores SIGTERM, and says that it is there. */
const DEAF = `trap "" TERM; echo here; while :; do sleep 0.05; done`;

/** What a job may have started when it is cancelled, each with what it takes to find it. */
const FAMILIES: readonly (readonly [name: string, start: string])[] = [
  ['a grandchild that ignores SIGTERM', `sh -c '${DEAF}' &`],
  ['one that was double-forked', `(sh -c '${DEAF}' &)`],
  ['one in a session of its own', `setsid sh -c '${DEAF}' &`],
  ['one that was double-forked into a session of its own', `(setsid sh -c '${DEAF}' &)`],
  ['one that does not share its output', `(setsid sh -c '${DEAF}' > /dev/null 2>&1 &) ; echo here`],
  ['one that is stopped', `sh -c 'echo here; kill -STOP $$; sleep 300' &`],
];

/** The agent does not become offline while a test runs. */
const PATIENT = { heartbeat_s: 0.2, offline_after_s: 120 };

describe('cancelling real processes', function () {
  this.timeout(120_000);

  const cancel = async ({ lab }: HostStage, job: Job) =>
    (await lab.request('POST', `/jobs/${job.id}/cancel`)).body.result as string;
  const processesOf = (job: Job) => findMarked('SVC_JOB_ID', job.id);

  /** A job with that family, once all of it is there. */
  async function start(stage: HostStage, family = FAMILIES[3]![1]): Promise<Job> {
    const job = await stage.sh(`${family}\nexec sleep 300`, { resources: { gpu: 1 } });
    await stage.lab.reach(job.id, 'RUNNING');
    await until(async () => (await stage.lines(job)).length === 1);
    await until(() => processesOf(job).length >= 2);
    return job;
  }

  async function expectFreeSlot({ lab, agent }: HostStage): Promise<void> {
    await until(async () => {
      const node = await lab.nodes.get(lab.kernel.db, agent.nodeId);
      return node?.slots.every(({ job_id }) => job_id === null);
    });
  }

  for (const [name, family] of FAMILIES) {
    it(`leaves nothing behind, not even ${name}`, () =>
      onHost(async (stage) => {
        const job = await start(stage, family);
        expect(await cancel(stage, job)).to.equal('cancel-requested');
        expect(await cancel(stage, job), 'twice as once').to.be.oneOf(['cancel-requested', 'CANCELLED']);
        const ended = await stage.lab.reach(job.id, 'CANCELLED');
        expect(ended).to.include({ exit_code: -15, attempt: 1 });
        expect(processesOf(job), 'when it is told as cancelled, nothing lives').to.deep.equal([]);
        await expectFreeSlot(stage);
      })());
  }

  it('while the agent is away: it is carried out on its return', () =>
    onHost(async (stage) => {
      const { lab, proxy, agent } = stage;
      const job = await start(stage);
      proxy.cut('refuse', 'agent');
      await until(async () => !(await lab.isConnected(agent.nodeId)));
      expect(await cancel(stage, job)).to.equal('cancel-requested');
      expect((await lab.job(job.id)).status).to.equal('RUNNING');
      expect(processesOf(job)).to.not.deep.equal([]);
      proxy.heal();
      expect(await lab.reach(job.id, 'CANCELLED')).to.include({ exit_code: -15 });
      expect(processesOf(job)).to.deep.equal([]);
      await expectFreeSlot(stage);
    }, PATIENT)());

  it('of a LOST job: at once in the record, on the host when its agent is back', () =>
    onHost(async (stage) => {
      const { lab, proxy, agent } = stage;
      const job = await start(stage);
      proxy.cut('refuse', 'agent');
      await lab.reach(job.id, 'LOST');
      expect(await cancel(stage, job)).to.equal('CANCELLED');
      expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: null });
      const node = await lab.nodes.get(lab.kernel.db, agent.nodeId);
      expect(node?.slots[0]?.job_id, 'the slot is not free before the process is gone').to.equal(job.id);
      proxy.heal();
      await expectFreeSlot(stage);
      expect(processesOf(job)).to.deep.equal([]);
      expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: null, attempt: 1 });
    })());
});
