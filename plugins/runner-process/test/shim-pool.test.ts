import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { identify, isRunning, type ProcessIdentity } from '../src/agent/process-table.js';
import { ShimPool, type Shim } from '../src/agent/shim-pool.js';
import { compiledShim } from './support/compiled-shim.js';

describe('agent: a shim whose agent goes', () => {
  let dir: string;
  let pool: ShimPool;
  let left: ProcessIdentity | null = null;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'svc-shim-pool-'));
    pool = new ShimPool(compiledShim());
  });
  afterEach(async () => {
    pool.close();
    if (left !== null && isRunning(left)) process.kill(left.pid, 'SIGKILL');
    await rm(dir, { recursive: true, force: true });
  });

  /** A job that has ended, and one process in its group that carries none of its signs: as a stranger's would be. */
  async function runJob(shim: Shim): Promise<ProcessIdentity> {
    const script = 'env -i PATH="$PATH" sleep 300 >/dev/null 2>&1 & echo $!';
    const [stdoutPath, stderrPath] = [path.join(dir, 'stdout'), path.join(dir, 'stderr')];
    const env = { PATH: process.env['PATH'] ?? '', SVC_JOB_ID: dir };
    const mark = { SVC_JOB_ID: dir };
    shim.order({
      dir,
      command: ['sh', '-c', script],
      cwd: dir,
      env,
      stdoutPath,
      stderrPath,
      mark,
      user: null,
      host: 'h',
    });
    await until(() => existsSync(path.join(dir, 'exit.json')), 'the end of the job');
    const pid = Number(await readFile(stdoutPath, 'utf8'));
    const marked = () => readFile(`/proc/${pid}/environ`, 'utf8').then((text) => text.includes(dir));
    await until(async () => !(await marked()), 'its new environment');
    left = identify(pid);
    return left as ProcessIdentity;
  }

  it('spares what has the numbers of a job whose leftovers are killed', async () => {
    const shim = pool.take();
    const stranger = await runJob(shim);
    pool.release(shim);
    pool.close();
    await until(() => !isRunning(shim.identity), 'the end of the shim');
    expect(isRunning(stranger)).to.equal(true);
  });

  it('kills the leftovers of a job itself when nobody said that it has been done', async () => {
    const shim = pool.take();
    const member = await runJob(shim);
    pool.close();
    await until(() => !isRunning(shim.identity), 'the end of the shim');
    expect(isRunning(member)).to.equal(false);
  });
});
