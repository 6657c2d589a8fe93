import { resolveConfig, withOfflineKernel, type ResolvedConfig } from '@svc/kernel';
import { fakeClock } from '@svc/kernel/testing';
import { auth } from '@svc/plugin-auth';
import { checkpoints } from '@svc/plugin-checkpoints';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { retention, retentionRef } from '@svc/plugin-retention';
import { runs } from '@svc/plugin-runs';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Rig } from '../../plugins/runs/test/support/rig.js';

const PLUGINS = [
  auth(),
  projects(),
  events(),
  nodes({ offline_after_s: 1 }),
  jobs(),
  logs(),
  runs(),
  metricDefinitions(),
  metrics(),
  checkpoints(),
  retention(),
];
const HOUR_MS = 3_600_000;

describe('a command that works on the data directory with the plugins', () => {
  let dataDir: string;
  let config: ResolvedConfig;
  let jobId: string;

  /** A server that has been stopped, with a job that an agent goes on running. */
  before(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'svc-offline-'));
    config = resolveConfig({ dataDir, port: 0, plugins: PLUGINS }, { env: {} });
    const rig = await Rig.start({ dataDir });
    const agent = await rig.agent();
    jobId = (await rig.submit()).id;
    await agent.startJob(jobId);
    await rig.reach(jobId, 'RUNNING');
    await rig.close();
  });
  after(() => rmSync(dataDir, { recursive: true }));

  it('gives up neither a node nor its job, however long it takes', async () => {
    const clock = fakeClock(Date.now());
    const seen = await withOfflineKernel(
      config,
      async ({ db, use }) => {
        await use(retentionRef).collectGarbage({ older_than_s: 0, dry_run: false });
        await clock.advance(HOUR_MS);
        return {
          job: await db('jobs').where({ id: jobId }).first('status'),
          node: await db('nodes').first('online'),
        };
      },
      { clock },
    );
    expect(seen).to.deep.equal({ job: { status: 'RUNNING' }, node: { online: 1 } });
  });

  it('has the data directory for itself, and for no longer than it works', async () => {
    const work = () => Rig.start({ dataDir }).then((rig) => rig.close());
    const refused = await withOfflineKernel(config, work).catch((error: unknown) => error);
    expect(refused).to.have.property('message').that.contains('a server is running on the data directory');
    await work();
  });

  it('fails as its work does, and as a boot does', async () => {
    const defect = new TypeError('a defect');
    const failed = withOfflineKernel(config, () => Promise.reject(defect));
    expect(await failed.catch((error: unknown) => error)).to.equal(defect);
    const without = { ...config, plugins: [retention()] };
    const unbooted = withOfflineKernel(without, () => Promise.resolve());
    expect(await unbooted.catch((error: unknown) => error)).to.include({ name: 'BootError' });
  });
});
