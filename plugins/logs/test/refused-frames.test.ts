import { newId, type PartialFrame } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { logs } from '../src/index.js';
import { PartialPace } from '../src/partial-pace.js';
import { RefusedFrames } from '../src/refused-frames.js';
import { shipper } from './support/shipper.js';

const toFrame = (job_id: string, attempt = 1): PartialFrame => ({
  type: 'partial',
  job_id,
  attempt,
  stream: 'stdout',
  ts: 5000,
  text: 'half',
});

eachDatabase((database) => {
  describe('log frames of attempts that are not of their node', () => {
    let rig: Rig;
    let stranger: JobAgent;
    let id: string;
    before(async () => (rig = await Rig.start({ database, plugins: [logs()] })));
    after(() => rig.close());
    beforeEach(async () => {
      const owner = await rig.agent();
      ({ id } = await rig.submit({ node_selector: { node: owner.nodeId } }));
      await owner.startJob(id);
      await rig.reach(id, 'RUNNING');
      stranger = await rig.agent();
    });

    it('cost one query, whatever attempts they name', async () => {
      let queries = 0;
      const count = ({ sql }: { readonly sql: string }): void => {
        if (sql.includes('from `attempts`') || sql.includes('from "attempts"')) queries += 1;
      };
      rig.kernel.db.on('query', count);
      for (let attempt = 1; attempt <= 500; attempt += 1) stranger.send(toFrame(id, attempt));
      for (let attempt = 1; attempt <= 20; attempt += 1)
        expect(await shipper(stranger, id, attempt).lines('stdout', ['forged'])).to.equal(5);
      rig.kernel.db.removeListener('query', count);
      expect(queries).to.be.at.most(1);
    });

    it('of thousands of jobs close the connection', async () => {
      for (let at = 0; at < 2_500; at += 1) stranger.send(toFrame(newId('job')));
      expect((await stranger.gone()).reason).to.equal(
        'too many log frames of jobs that are not of this node',
      );
    });
  });
});

describe('refused log frames', () => {
  it('are reported once a minute for each node, with their number', async () => {
    const warnings: object[] = [];
    const log = { warn: (about: object) => warnings.push(about) } as unknown as PluginContext['log'];
    let now = 0;
    const refused = new RefusedFrames(log, { now: () => now });
    for (let at = 0; at < 1000; at += 1) refused.refused({ job_id: 'job_1', attempt: at }, 'node_1');
    refused.refused({ job_id: 'job_1', attempt: 7 }, 'node_2');
    now = 60_000;
    refused.refused({ job_id: 'job_1', attempt: 8 }, 'node_1');
    expect(warnings).to.deep.equal([
      { job_id: 'job_1', attempt: 0, node_id: 'node_1' },
      { job_id: 'job_1', attempt: 7, node_id: 'node_2' },
      { node_id: 'node_1', frames: 1000 },
      { job_id: 'job_1', attempt: 8, node_id: 'node_1' },
    ]);
  });

  it('do not count as queries where the attempt is of the node', async () => {
    const log = { warn: () => undefined } as unknown as PluginContext['log'];
    const refused = new RefusedFrames(log, { now: () => 0 });
    for (let at = 0; at < 5_000; at += 1) await refused.lookUp('node_1', () => Promise.resolve('node_1'));
    expect(refused.mayLookUp('node_1')).to.equal(true);
    for (let at = 0; at < 2_000; at += 1) await refused.lookUp('node_1', () => Promise.resolve(null));
    expect([refused.mayLookUp('node_1'), refused.mayLookUp('node_2')]).to.deep.equal([false, true]);
  });
});

describe('the pace of lines that have no end yet', () => {
  it('is a few a second for each stream; more are dropped', () => {
    let now = 0;
    const pace = new PartialPace({ now: () => now });
    const taken = () =>
      Array.from({ length: 100 }, () => pace.take(toFrame('job_1'), 'node_1')).filter(Boolean).length;
    expect(taken()).to.equal(10);
    expect(pace.take({ ...toFrame('job_1'), stream: 'stderr' }, 'node_1')).to.equal(true);
    expect(pace.take(toFrame('job_1'), 'node_2')).to.equal(true);
    now = 1_000;
    expect(taken()).to.equal(10);
  });
});
