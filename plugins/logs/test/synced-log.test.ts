import type { LogsFrame } from '@svc/contract';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttemptLog } from '../src/attempt-log.js';
import { ConcurrencyLimit } from '../src/concurrency-limit.js';
import { LogFile } from '../src/log-file.js';

const JOB = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';

/** Its syncs wait for the test to end them. */
class SlowFile extends LogFile {
  readonly syncs: { succeed(): void; fail(): void }[] = [];

  override sync(): Promise<void> {
    return new Promise((resolve, reject) =>
      this.syncs.push({ succeed: resolve, fail: () => reject(new Error('EIO')) }),
    );
  }
}

describe('the sync of a log', () => {
  let directory: string;
  let file: SlowFile;
  let log: AttemptLog;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
    file = new SlowFile(join(directory, JOB, 'attempt-1.ndjson'), new ConcurrencyLimit(4));
    log = await AttemptLog.load(JOB, 1, file);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const frame = (index: number): LogsFrame => ({
    type: 'logs',
    job_id: JOB,
    attempt: 1,
    stream: 'stdout',
    from: 5 * index,
    to: 5 * index + 5,
    ts: 1000,
    lines: [`line ${index}`],
    dropped: 0,
    end: false,
  });
  const textsOf = async (one: AttemptLog) => (await one.tail({ tail: 100 })).lines.map(({ text }) => text);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const reload = () =>
    AttemptLog.load(JOB, 1, new LogFile(join(directory, JOB, 'attempt-1.ndjson'), new ConcurrencyLimit(4)));

  it('serves together whoever asks while one runs', async () => {
    await log.append(frame(0), 0);
    const first = log.synced();
    await turn();
    for (const index of [1, 2, 3]) await log.append(frame(index), 0);
    const others = [log.synced(), log.synced(), log.synced()];
    file.syncs[0]!.succeed();
    await first;
    await turn();
    expect(file.syncs).to.have.length(2);
    file.syncs[1]!.succeed();
    await Promise.all(others);
    await log.synced();
    expect(file.syncs).to.have.length(2);
  });

  it('that fails takes back what was written behind the last one, also for those who wait for the next', async () => {
    await log.append(frame(0), 0);
    const kept = log.synced();
    await turn();
    file.syncs[0]!.succeed();
    await kept;
    await log.append(frame(1), 0);
    const failing = log.synced().catch((error: Error) => error.message);
    await turn();
    await log.append(frame(2), 0);
    const behind = log.synced().catch((error: Error) => error.message);
    file.syncs[1]!.fail();
    expect(await failing).to.equal('EIO');
    await turn();
    file.syncs[2]?.succeed();
    expect(await behind).to.equal('what was written could not be synced');
    expect(log.state.marks.stdout).to.equal(5);
    expect(await textsOf(log)).to.deep.equal(['line 0']);
    expect(await textsOf(await reload())).to.deep.equal(['line 0']);

    for (const index of [1, 2]) await log.append(frame(index), 0);
    const again = log.synced();
    await turn();
    file.syncs.at(-1)!.succeed();
    await again;
    expect(await textsOf(await reload())).to.deep.equal(['line 0', 'line 1', 'line 2']);
  });

  it('of what an earlier server has written comes before its mark is told', async () => {
    await log.append(frame(0), 0);
    const next = new SlowFile(join(directory, JOB, 'attempt-1.ndjson'), new ConcurrencyLimit(4));
    const loaded = await AttemptLog.load(JOB, 1, next);
    const synced = loaded.synced();
    await turn();
    expect(next.syncs).to.have.length(1);
    next.syncs[0]!.fail();
    expect(await synced.catch((error: Error) => error.message)).to.equal('EIO');
    expect(await textsOf(loaded)).to.deep.equal(['line 0']);
  });
});
