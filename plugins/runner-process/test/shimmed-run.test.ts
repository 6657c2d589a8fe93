import { createAgentLog, type Run } from '@svc/agent';
import { readBootId } from '@svc/agent/boot-id';
import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isRunning } from '../src/agent/process-table.js';
import { recoverUnderShim } from '../src/agent/shimmed-run.js';
import { startSlowDeath, type SlowDeath } from './support/slow-death.js';

const KEY = { job_id: 'job_1', attempt: 1 };

describe('agent: the end of a run', () => {
  let dir: string;
  let leader: SlowDeath;
  const logged: string[] = [];
  const closing = new AbortController();
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'svc-shimmed-run-'));
    leader = await startSlowDeath({ SVC_NODE_ID: dir, SVC_JOB_ID: KEY.job_id, SVC_ATTEMPT: '1' });
  });
  afterEach(async () => {
    closing.abort();
    await leader.release();
    await rm(dir, { recursive: true, force: true });
  });

  /** A run whose process was started, and whose shim is gone. */
  async function recover(): Promise<Run> {
    const { pid, start_ticks } = leader;
    const started = { pid, start_ticks, boot_id: readBootId(), started_at: 1 };
    await writeFile(path.join(dir, 'started.json'), JSON.stringify(started));
    const at = (name: string) => path.join(dir, name);
    const paths = { dir, stdout: at('stdout'), stderr: at('stderr'), work: at('work'), spool: at('spool') };
    const log = createAgentLog({ write: (line) => logged.push(line) });
    const save = () => Promise.resolve();
    const about = { ...KEY, node: { id: dir, name: 'node-1' }, paths };
    const shim = { pid: 2 ** 30, start_ticks: 0 };
    return recoverUnderShim({ shim }, { ...about, signal: closing.signal, log, clock: Date, save });
  }

  it('is told when what was killed is gone, and the log says what it waits for', async () => {
    const run = await recover();
    let ended = false;
    void run.exit.then(() => (ended = true));
    void run.stop(0);
    const waits = (line: string) => line.includes('not gone yet') && line.includes(String(leader.pid));
    await until(() => ended || logged.some(waits), 'a word on what takes so long');
    expect({ ended, isRunning: isRunning(leader) }).to.deep.equal({ ended: false, isRunning: true });
    await leader.release();
    expect((await run.exit).kind).to.equal('lost');
    expect(isRunning(leader)).to.equal(false);
  });
});
