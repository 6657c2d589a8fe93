import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { EventRecord } from '@svc/contract';
import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { detectors } from '@svc/plugin-detectors';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { expect } from 'chai';
import type { JobAgent } from '../../plugins/runs/test/support/job-agent.js';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { requireEngine } from '../support/engines.js';
import { ROOT, startProgram, type Program } from '../support/program.js';

const SDK = path.join(ROOT, 'sdk', 'python');
const SCRIPT = path.join(ROOT, 'test', 'fixtures', 'torch-until.py');
const MINUTE_MS = 60_000;

/** A PyTorch training reports in real time, while the clock of the server runs much faster. */
describe('RUN_STALLED and a real PyTorch training', function () {
  this.timeout(120_000);
  let dir: string;
  let clock: FakeClock;
  let rig: Rig;
  let agent: JobAgent;
  let training: Program;
  let runId: string;

  before(async function () {
    const python = requireEngine(this, 'torch');
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-stalled-'));
    clock = fakeClock();
    rig = await Rig.start({ clock, plugins: [logs(), metrics(), nodeMetrics(), detectors()] });
    agent = await rig.agent();
    const job = await rig.submit();
    const { env, run_id } = await agent.startJob(job.id);
    await rig.reach(job.id, 'RUNNING');
    runId = run_id ?? '';
    const own = { PATH: process.env['PATH'], HOME: dir, PYTHONPATH: SDK, SVC_URL: rig.kernel.url };
    training = startProgram(python, [SCRIPT, path.join(dir, 'enough')], { ...own, ...env }, dir);
    await until(async () => (await countPoints()) > 0, { timeoutMs: 60_000 });
  });
  after(async () => {
    training?.kill('SIGKILL');
    await training?.ended;
    await rig?.close();
    if (dir) rmSync(dir, { recursive: true });
  });

  async function countPoints(): Promise<number> {
    const { body } = await rig.get(`/runs/${runId}/metrics?names=train/loss&limit=2`);
    return body.series?.['train/loss']?.total ?? 0;
  }
  const stalled = async (): Promise<EventRecord[]> =>
    (await rig.get(`/events?run_id=${runId}&type=RUN_STALLED`)).body.items;
  /** The host stays there. */
  async function passMinute(): Promise<void> {
    await clock.advance(MINUTE_MS);
    agent.send({ type: 'heartbeat', ts: clock.now() });
    await rig.get('/runs?limit=1');
  }

  it('does not fire while it reports each minute', async () => {
    for (let minute = 0; minute < 15; minute += 1) {
      const before = await countPoints();
      await until(async () => (await countPoints()) > before);
      await passMinute();
    }
    expect(await stalled()).to.deep.equal([]);
  });

  it('fires once it has stood still for 10 minutes, and once', async () => {
    training.kill('SIGSTOP');
    const minutes = await until(async () => {
      await passMinute();
      const [event] = await stalled();
      return event && Math.round((event.data as { silent_s: number }).silent_s / 60);
    });
    expect(minutes).to.be.within(9, 12);
    for (let minute = 0; minute < 20; minute += 1) await passMinute();
    expect(await stalled()).to.have.length(1);
  });
});
