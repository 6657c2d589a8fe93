import type { Job, Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Rig } from '../../runs/test/support/rig.js';
import { retention } from '../src/index.js';
import { expectNoTrace } from './support/traces.js';

const COLLECT = fileURLToPath(new URL('support/collect.ts', import.meta.url));
const POINTS = 3000;
/** Between two kills; a removal of the two takes about 90 queries. */
const STRIDE = 13;
const MAX_ROUNDS = 15;

describe('a removal that is killed', function () {
  this.timeout(300_000);
  const dir = mkdtempSync(join(tmpdir(), 'svc-gc-kill-'));
  const template = join(dir, 'template');
  let jobId: string;
  let runs: readonly Run[];
  let token: string;

  const start = (dataDir: string): Promise<Rig> =>
    Rig.start({ dataDir, plugins: [metrics(), checkpoints(), logs(), retention()] });
  const logsOf = (dataDir: string): string => join(dataDir, 'logs', jobId);

  /** A job that is over, with a run and a log, a run of its own, and one that is kept. */
  before(async () => {
    const rig = await start(template);
    const agent = await rig.agent();
    const job = await rig.submit();
    await agent.startJob(job.id);
    await rig.reach(job.id, 'RUNNING');
    jobId = job.id;
    const ofJob = (await rig.get(`/jobs/${jobId}/runs`)).body.items[0] as Run;
    const own = (await rig.post('/runs', {})).body as Run;
    const kept = (await rig.post('/runs', { tags: ['keep'] })).body as Run;
    runs = [ofJob, own, kept];
    for (const { id } of runs) await fill(rig, id);
    for (const { id } of [own, kept]) await rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' });
    agent.end(jobId);
    await rig.reach(jobId, 'SUCCEEDED');
    mkdirSync(logsOf(template), { recursive: true });
    writeFileSync(join(logsOf(template), 'attempt-1.ndjson'), '');
    token = rig.tokens.write;
    await rig.close();
  });
  after(() => rmSync(dir, { recursive: true }));

  async function fill(rig: Rig, id: string): Promise<void> {
    const points = Array.from({ length: POINTS }, (_, seq) => ({ seq, name: 'm', step: seq, value: seq }));
    await rig.post(`/runs/${id}/metrics:batch`, { points });
    await rig.post(`/runs/${id}/checkpoints`, { path: '/ckpt', step: 1 });
    await rig.post(`/runs/${id}/events`, { title: 'hello' });
  }

  /** Whether it is there, with all that is its own. */
  async function isWhole(rig: Rig, { id }: Run): Promise<boolean> {
    if ((await rig.get(`/runs/${id}`)).status === 404) return false;
    expect((await rig.get(`/runs/${id}/metrics?limit=10000`)).body.series.m?.total).to.equal(POINTS);
    expect((await rig.get(`/runs/${id}/checkpoints`)).body.items).to.have.length(1);
    const told = (await rig.get(`/events?run_id=${id}`)).body.items as { title: string }[];
    expect(told.filter(({ title }) => title === 'hello')).to.have.length(1);
    return true;
  }

  /** Kills a removal before one query after another, and looks at what the next server makes of it, until one comes to its end. */
  async function killEach(
    name: string,
    given: readonly string[],
    check: (rig: Rig, dataDir: string) => Promise<string>,
  ) {
    const seen = new Set<string>();
    for (let round = 0; ; round += 1) {
      expect(round).to.be.lessThan(MAX_ROUNDS);
      const dataDir = join(dir, `${name}-${round}`);
      cpSync(template, dataDir, { recursive: true });
      const args = ['--import=tsx', '--conditions=svc-source', COLLECT, dataDir, String(round * STRIDE + 1)];
      const { signal, stdout, stderr } = spawnSync(process.execPath, [...args, ...given]);
      if (signal === null) expect(stdout.toString(), stderr.toString()).to.equal('collected\n');
      const rig = await start(dataDir);
      await until(async () => (await rig.kernel.db('removals')).length === 0);
      seen.add(await check(rig, dataDir));
      await rig.close();
      if (signal === null) return [...seen];
    }
  }

  it('leaves each job and run whole, or gone once a server has started again', async () => {
    const seen = await killEach('gc', [], async (rig, dataDir) => {
      const [ofJob, own, kept] = await Promise.all(runs.map((run) => isWhole(rig, run)));
      expect(kept).to.equal(true);
      expect((await rig.get(`/jobs/${jobId}`)).status).to.equal(ofJob ? 200 : 404);
      expect(existsSync(logsOf(dataDir))).to.equal(ofJob);
      return `${ofJob} ${own}`;
    });
    expect(seen).to.have.members(['true true', 'false true', 'false false']);
  });

  it('leaves a run of a job whole, or gone, and its job as it is', async () => {
    const [deleted, ...others] = runs;
    const seen = await killEach('run', [deleted?.id ?? '', token], async (rig, dataDir) => {
      const isThere = await isWhole(rig, deleted as Run);
      for (const other of others) expect(await isWhole(rig, other)).to.equal(true);
      const job = (await rig.get(`/jobs/${jobId}`)).body as Job;
      expect(job).to.include({ status: 'SUCCEEDED', run_id: isThere ? deleted?.id : null });
      expect(existsSync(logsOf(dataDir))).to.equal(true);
      if (!isThere) await expectNoTrace(rig, deleted?.id ?? '');
      return String(isThere);
    });
    expect(seen).to.have.members(['true', 'false']);
  });
});
