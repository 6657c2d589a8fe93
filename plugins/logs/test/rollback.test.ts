import type { LogsFrame } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttemptLog, cursorBefore } from '../src/attempt-log.js';
import { ConcurrencyLimit } from '../src/concurrency-limit.js';
import { LogFile } from '../src/log-file.js';
import { RING_LINES } from '../src/log-ring.js';

const JOB = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';

/** The disk fails when the test says so. */
class FailingFile extends LogFile {
  /** Holds the next sync until the test calls it; the sync then fails. */
  fail: (() => void) | null = null;
  failsNextSync = false;
  failsCuts = false;

  override async sync(): Promise<void> {
    if (!this.failsNextSync) return super.sync();
    this.failsNextSync = false;
    await new Promise<void>((resolve) => (this.fail = resolve));
    throw new Error('EIO');
  }

  override async truncate(sizeBytes: number): Promise<void> {
    if (this.failsCuts) throw new Error('EIO: cut');
    await super.truncate(sizeBytes);
  }
}

describe('a log of which the end is taken back', () => {
  let directory: string;
  let path: string;
  let file: FailingFile;
  let log: AttemptLog;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
    path = join(directory, JOB, 'attempt-1.ndjson');
    file = new FailingFile(path, new ConcurrencyLimit(4));
    log = await AttemptLog.load(JOB, 1, file);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const frame = (from: number, lines: readonly string[], change: Partial<LogsFrame> = {}): LogsFrame => ({
    type: 'logs',
    job_id: JOB,
    attempt: 1,
    stream: 'stdout',
    from,
    to: from + lines.length,
    ts: 1000,
    lines: [...lines],
    dropped: 0,
    end: false,
    ...change,
  });
  const append = (...given: Parameters<typeof frame>) => log.append(frame(...given), 0);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: Error) => error.message,
    );
  const reload = () => AttemptLog.load(JOB, 1, new LogFile(path, new ConcurrencyLimit(4)));

  /** A sync that waits; what is given back fails it and says with what error. */
  async function failingSync(): Promise<() => Promise<string | null>> {
    file.failsNextSync = true;
    const synced = failure(log.synced());
    await until(() => file.fail);
    return () => {
      file.fail!();
      return synced;
    };
  }

  async function download(one: AttemptLog): Promise<string[]> {
    const texts: string[] = [];
    for await (const { lines } of one.batches()) texts.push(...lines);
    return texts;
  }

  async function expectLinesInAll(expected: readonly string[]): Promise<void> {
    for (const one of [log, await reload()]) expect(await download(one)).to.deep.equal(expected);
  }

  async function endWith(line: string): Promise<void> {
    await append(1, [line], { end: true });
    await append(0, [], { stream: 'stderr', end: true });
  }

  it('is not compressed before all of it is synced', async () => {
    await append(0, ['first']);
    await log.synced();
    await endWith('last');
    const fail = await failingSync();
    const compressed = failure(log.compress());
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(existsSync(`${path}.gz`)).to.equal(false);
    expect(await fail()).to.equal('EIO');
    expect(await compressed).to.equal('what was written could not be synced');
    expect(existsSync(path)).to.equal(true);

    await endWith('last');
    await log.synced();
    await expectLinesInAll(['first', 'last']);
    await log.compress();
    expect([existsSync(path), existsSync(`${path}.gz`)]).to.deep.equal([false, true]);
    await expectLinesInAll(['first', 'last']);
  });

  it('syncs itself what is to be compressed, and stays as it was when that fails', async () => {
    await append(0, ['first']);
    await log.synced();
    await endWith('last');
    file.failsNextSync = true;
    const compressed = failure(log.compress());
    await until(() => file.fail);
    file.fail!();
    expect(await compressed).to.equal('EIO');
    expect(existsSync(`${path}.gz`)).to.equal(false);
    expect(log.isComplete).to.equal(false);
    await expectLinesInAll(['first']);
  });

  it('takes nothing new before the old records are cut off, so that no restart finds them again', async () => {
    await append(0, ['kept']);
    await log.synced();
    await append(1, ['x'.repeat(3000)]);
    await append(2, ['an old record']);
    const fail = await failingSync();
    file.failsCuts = true;
    expect(await fail()).to.equal('EIO');
    expect(await failure(append(1, ['short']))).to.equal('EIO: cut');
    expect(log.state.marks.stdout).to.equal(1);
    expect(await download(log)).to.deep.equal(['kept']);
    file.failsCuts = false;
    await append(1, ['short']);
    await log.synced();
    await expectLinesInAll(['kept', 'short']);
  });

  it('tells as its kept state nothing that may still be taken back', async () => {
    await append(0, ['kept']);
    await log.synced();
    await append(1, ['not yet']);
    expect([log.state.marks.stdout, log.durableState.marks.stdout]).to.deep.equal([2, 1]);
    await log.synced();
    expect(log.durableState.marks.stdout).to.equal(2);
  });

  it('is read on without a gap by who reads the file, also where other records stand now', async () => {
    const all = Array.from({ length: 2 * RING_LINES }, (_, index) => `line ${index}`);
    const appendAll = async (first: number, batch: number) => {
      for (let from = first; from < all.length; from += batch)
        await append(from, all.slice(from, from + batch));
    };
    await append(0, all.slice(0, 10));
    await log.synced();
    await appendAll(10, 30);
    const page = await log.page(cursorBefore(0));
    const read = page.lines.map(({ text }) => text);
    const fail = await failingSync();
    expect(await fail()).to.equal('EIO');
    await appendAll(10, 70);
    for (let { next } = page; ;) {
      const { lines, next: behind } = await log.page(next);
      if (lines.length === 0) break;
      read.push(...lines.map(({ text }) => text));
      next = behind;
    }
    expect(read).to.deep.equal(all);
  });
});
