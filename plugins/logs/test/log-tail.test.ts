import type { LogsFrame } from '@svc/contract';
import { LIST_BYTES } from '@svc/kernel';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttemptLog } from '../src/attempt-log.js';
import { ConcurrencyLimit } from '../src/concurrency-limit.js';
import { LogFile } from '../src/log-file.js';
import type { FoundLines } from '../src/log-tail.js';

const JOB = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';

describe('the tail of a log', () => {
  let directory: string;
  let log: AttemptLog;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
    log = await AttemptLog.load(
      JOB,
      1,
      new LogFile(join(directory, JOB, 'attempt-1.ndjson'), new ConcurrencyLimit(4)),
    );
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  async function append(texts: readonly string[], change: Partial<LogsFrame> = {}): Promise<void> {
    const from = log.state.marks[change.stream ?? 'stdout'];
    for (let first = 0; first === 0 || first < texts.length; first += 100) {
      const lines = texts.slice(first, first + 100);
      await log.append(
        {
          type: 'logs',
          job_id: JOB,
          attempt: 1,
          stream: 'stdout',
          ts: 1000,
          dropped: 0,
          end: false,
          from: from + first,
          to: from + first + lines.length,
          lines,
          ...change,
        },
        0,
      );
    }
  }
  const long = (character: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${character.repeat(16_000)}${index}`);

  /** As many of the newest as fit in an answer. */
  function expectCut({ lines, truncated }: FoundLines, all: readonly string[]): void {
    expect(truncated).to.equal(true);
    expect(lines.map(({ text }) => text)).to.deep.equal(all.slice(-lines.length));
    const sizeBytes = Buffer.byteLength(JSON.stringify(lines));
    expect(sizeBytes).to.be.within(LIST_BYTES * 0.98, LIST_BYTES * 1.01);
  }

  it('keeps the newest lines that fit in an answer as JSON writes them', async () => {
    const all = long('\x01', 250);
    await append(all);
    expectCut(await log.tail({ tail: 2000 }), all);
  });

  it('is cut in the same way when it comes from the file, also a compressed one', async () => {
    const all = long('x', 1200);
    await append(all);
    expectCut(await log.tail({ tail: 2000 }), all);
    await append([], { end: true });
    await append([], { stream: 'stderr', end: true });
    await log.compress();
    expectCut(await log.tail({ tail: 2000 }), all);
    const few = await log.tail({ tail: 400 });
    expect(few.lines.map(({ text }) => text)).to.deep.equal(all.slice(-400));
    expect(few).not.to.have.property('truncated');
  });

  it('is not said to be cut when everything asked for is there', async () => {
    const all = long('x', 400);
    await append(all);
    expect(await log.tail({ tail: 2000 }))
      .to.have.property('lines')
      .with.lengthOf(400);
    expect(await log.tail({ tail: 2000 })).not.to.have.property('truncated');
  });
});
