import { toReport } from '@svc/agent/testing';
import type { LogsFrame } from '@svc/contract';
import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { AttemptLog } from '../src/attempt-log.js';
import { ConcurrencyLimit } from '../src/concurrency-limit.js';
import { logs } from '../src/index.js';
import { LogFile } from '../src/log-file.js';
import { LogStore } from '../src/log-store.js';
import { RetryingLogStore } from '../src/retrying-log-store.js';
import { shipper } from './support/shipper.js';

const KEY = { job_id: 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ', attempt: 1 };

/** What makes the log at that path unreadable; returns what is to be removed. */
const spoilers: Record<string, (path: string) => string> = {
  'its file cannot be opened': (path) => (mkdirSync(path), path),
  'its compressed file is damaged': (path) => (writeFileSync(`${path}.gz`, 'rubbish'), `${path}.gz`),
  'its compressed file answers with an error': (path) => (mkdirSync(`${path}.gz`), `${path}.gz`),
};

describe('a log that cannot be read', () => {
  let dataDir: string;
  let clock: FakeClock;
  let rig: Rig;
  let agent: JobAgent;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-logs-'));
    clock = fakeClock(Date.now());
    rig = await Rig.start({ plugins: [logs()], dataDir, clock });
    agent = await rig.agent();
  });
  afterEach(async () => {
    await rig.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const pathOf = (id: string) => join(dataDir, 'logs', id, 'attempt-1.ndjson');

  async function startJob(): Promise<string> {
    const { id } = await rig.submit();
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    return id;
  }

  /** Beside the server, which has not looked at it yet. */
  async function writeLog(id: string): Promise<void> {
    const log = await AttemptLog.load(id, 1, new LogFile(pathOf(id), new ConcurrencyLimit(1)));
    await log.append({ ...shipper(agent, id).frame('stdout', ['before']) }, 0);
  }

  for (const [when, spoil] of Object.entries(spoilers))
    it(`because ${when} keeps neither its node away nor anything else waiting, and goes on by itself`, async () => {
      const [bad, good] = [await startJob(), await startJob()];
      await writeLog(bad);
      renameSync(pathOf(bad), join(dataDir, 'aside'));
      const spoiled = spoil(pathOf(bad));
      await agent.close();
      const { log_positions } = await agent.connect({
        attempts: [bad, good].map((job_id) => toReport({ job_id, attempt: 1 })),
      });
      expect(log_positions.map(({ job_id }) => job_id)).to.deep.equal([good, good]);

      const ship = shipper(agent, bad);
      const frames: LogsFrame[] = [
        ship.frame('stdout', ['before', 'behind']),
        ship.frame('stderr', ['error']),
      ];
      for (const frame of frames) agent.send(frame);
      expect(await shipper(agent, good).lines('stdout', ['good'])).to.equal(5);
      agent.end(bad);
      await rig.reach(bad, 'SUCCEEDED');
      const answers = () =>
        agent.frames.flatMap((frame) =>
          frame.type === 'logs_ack' && frame.job_id === bad ? [`${frame.stream} ${frame.offset}`] : [],
        );
      expect(answers()).to.deep.equal([]);

      rmSync(spoiled, { recursive: true });
      renameSync(join(dataDir, 'aside'), pathOf(bad));
      await until(async () => (await clock.advance(10_000), answers().length > 0));
      expect(answers()).to.deep.equal(['stdout 5', 'stderr 0']);
      expect(await ship.send({ ...ship.frame('stdout', ['behind']), from: 5, to: 10 })).to.equal(10);
      const { lines } = (await rig.get(`/jobs/${bad}/logs`)).body;
      expect(lines.map(({ text }: { text: string }) => text)).to.deep.equal(['before', 'behind']);
    });

  it('is said once, with its file', async () => {
    const said: string[] = [];
    const note = (_: unknown, message: string) => void said.push(message);
    const around = { ...rig.kernel.ctx, clock, log: { error: note, info: note } } as never;
    const retrying = new RetryingLogStore(around, new LogStore(join(dataDir, 'logs')));
    mkdirSync(pathOf(KEY.job_id), { recursive: true });
    let used = 0;
    const use = () => retrying.with(KEY, async () => void (used += 1));
    await use();
    await clock.advance(30_000);
    await use();
    expect(said).to.have.length(1);
    expect(said[0]).to.contain(pathOf(KEY.job_id));
    rmSync(pathOf(KEY.job_id), { recursive: true });
    await until(async () => (await clock.advance(10_000), said.length > 1));
    expect(said[1]).to.equal('the log can be read again');
    await use();
    expect(used).to.equal(1);
  });
});
