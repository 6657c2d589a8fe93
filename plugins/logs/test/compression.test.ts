import type { LogsFrame } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { AttemptLog } from '../src/attempt-log.js';
import { ConcurrencyLimit } from '../src/concurrency-limit.js';
import { logs } from '../src/index.js';
import { LogFile } from '../src/log-file.js';
import { shipper } from './support/shipper.js';

describe('the compression of a complete log', () => {
  let dataDir: string;
  let rig: Rig;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-logs-'));
    rig = await start();
  });
  afterEach(async () => {
    await rig.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = () => Rig.start({ plugins: [logs()], dataDir });
  const pathOf = (id: string) => join(dataDir, 'logs', id, 'attempt-1.ndjson');
  const isCompressed = (id: string) => existsSync(`${pathOf(id)}.gz`) && !existsSync(pathOf(id));

  async function startJob(agent: JobAgent): Promise<{ id: string; ship: ReturnType<typeof shipper> }> {
    const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    const ship = shipper(agent, id);
    await ship.lines('stdout', ['one', 'two']);
    return { id, ship };
  }

  it('is not waited for by the end of its job, and is tried again when it failed', async () => {
    const agent = await rig.agent();
    const { id, ship } = await startJob(agent);
    const pipe = `${pathOf(id)}.gz.tmp`;
    // It is not written to before somebody reads, and then it cannot be synced.
    execFileSync('mkfifo', [pipe]);
    try {
      await ship.end();
      agent.end(id);
      await rig.reach(id, 'SUCCEEDED');
      expect(await ship.send({ ...ship.frame('stdout', []), end: true })).to.equal(10);
      expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal('one\ntwo\n');
    } finally {
      await readFile(pipe);
    }
    await until(() => !existsSync(pipe));
    expect(existsSync(pathOf(id))).to.equal(true);
    const next = await startJob(agent);
    await next.ship.end();
    await until(() => isCompressed(next.id) && isCompressed(id));
    expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal('one\ntwo\n');
  });

  it('is cut short by the end of the server, and taken up when it starts again', async () => {
    const id = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';
    await rig.close();
    await writeLongLog(id, pathOf(id));
    const { size } = statSync(pathOf(id));
    rig = await start();
    await until(() => existsSync(`${pathOf(id)}.gz.tmp`));
    await rig.close();
    expect(existsSync(`${pathOf(id)}.gz`)).to.equal(false);
    expect(existsSync(`${pathOf(id)}.gz.tmp`)).to.equal(false);
    expect(statSync(pathOf(id)).size).to.equal(size);
    rig = await start();
    await until(() => isCompressed(id), { timeoutMs: 60_000 });
  }).timeout(90_000);
});

/** Takes seconds to compress. */
async function writeLongLog(job_id: string, path: string): Promise<void> {
  const log = await AttemptLog.load(job_id, 1, new LogFile(path, new ConcurrencyLimit(1)));
  const text = randomBytes(24 * 1024 * 1024).toString('base64');
  const frame = { type: 'logs', job_id, attempt: 1, from: 0, ts: 0, dropped: 0, end: true } as const;
  const lines = text.match(/.{1,16000}/g)!;
  const frames: LogsFrame[] = [
    { ...frame, stream: 'stdout', to: text.length, lines },
    { ...frame, stream: 'stderr', to: 0, lines: [] },
  ];
  for (const each of frames) await log.append(each, 0);
}
