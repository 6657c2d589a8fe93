import type { LogLine, LogsFrame, LogStream } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttemptLog, cursorBefore } from '../src/attempt-log.js';
import { ConcurrencyLimit } from '../src/concurrency-limit.js';
import { LogFile } from '../src/log-file.js';
import { RING_LINES } from '../src/log-ring.js';

const JOB = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';

describe('log of an attempt', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
    path = join(directory, 'job', 'attempt-1.ndjson');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const load = () => AttemptLog.load(JOB, 1, new LogFile(path, new ConcurrencyLimit(4)));

  it('takes a frame only from its mark on, whatever is sent again', async () => {
    const anySends = fc.array(fc.nat(19), { maxLength: 60 });
    const frames = [...chain('stdout', 10), ...chain('stderr', 10)];
    await fc.assert(
      fc.asyncProperty(anySends, async (sends) => {
        rmSync(join(directory, 'job'), { recursive: true, force: true });
        const log = await load();
        const taken: LogLine[] = [];
        for (const index of sends) taken.push(...(await log.append(frames[index] as LogsFrame, 0)));
        for (const frame of frames) taken.push(...(await log.append(frame, 0)));
        expect(taken.map(({ seq }) => seq)).to.deep.equal(taken.map((_, index) => index));
        for (const stream of ['stdout', 'stderr'] as const) {
          const texts = taken.filter((line) => line.stream === stream).map(({ text }) => text);
          expect(texts).to.deep.equal(
            frames.filter((frame) => frame.stream === stream).flatMap(({ lines }) => lines),
          );
        }
        expect(await readAll(await load())).to.deep.equal(taken);
      }),
      { numRuns: 40 },
    );
  });

  it('cuts a torn end off, wherever it was torn, and goes on without a gap or a double', async () => {
    const frames = chain('stdout', 4);
    const first = await load();
    for (const frame of frames) await first.append(frame, 0);
    const whole = readFileSync(path);
    const wanted = await readAll(first);
    for (let size = 0; size < whole.length; size += 7) {
      writeFileSync(path, whole);
      truncateSync(path, size);
      const log = await load();
      const kept = await readAll(log);
      expect(kept).to.deep.equal(wanted.slice(0, kept.length));
      expect(readFileSync(path).length).to.be.at.most(size);
      for (const frame of frames) await log.append(frame, 0);
      expect(await readAll(log)).to.deep.equal(wanted);
      expect(await readAll(await load())).to.deep.equal(wanted);
    }
  });

  it('cuts off what the host left there when it lost power', async () => {
    const log = await load();
    const [one, two] = chain('stdout', 2) as [LogsFrame, LogsFrame];
    await log.append(one, 0);
    appendFileSync(path, Buffer.alloc(5000));
    appendFileSync(path, '\n{"seq":');
    const recovered = await load();
    expect(recovered.state.marks).to.deep.equal({ stdout: one.to, stderr: 0 });
    await recovered.append(two, 0);
    expect((await readAll(await load())).map(({ text }) => text)).to.deep.equal([...one.lines, ...two.lines]);
  });

  it('is compressed once both streams have ended, and reads the same', async () => {
    const log = await load();
    for (const frame of chain('stdout', 3)) await log.append(frame, 0);
    await log.append(end('stdout', 3), 0);
    await log.compress();
    expect(existsSync(`${path}.gz`)).to.equal(false);
    await log.append({ ...end('stderr', 0), dropped: 5 }, 0);
    const before = await readAll(log);
    await log.compress();
    expect(existsSync(path)).to.equal(false);
    for (const read of [log, await load()]) {
      expect(read.isComplete).to.equal(true);
      expect(read.state.dropped).to.equal(5);
      expect(await readAll(read)).to.deep.equal(before);
      expect(await texts(read.batches())).to.deep.equal(before.map(({ text }) => text));
      expect(await read.append(end('stdout', 3), 0)).to.deep.equal([]);
    }
  });

  it('finishes a compression that a crash cut short', async () => {
    const log = await load();
    for (const frame of [...chain('stdout', 3), end('stdout', 3), end('stderr', 0)])
      await log.append(frame, 0);
    const plain = readFileSync(path);
    writeFileSync(`${path}.gz.tmp`, 'half');
    const again = await load();
    await again.compress();
    writeFileSync(path, plain);
    const both = await load();
    expect(existsSync(path)).to.equal(false);
    expect(await readAll(both)).to.have.length(6);
  });

  it('gives the tail and every page the same from memory and from disk', async () => {
    const log = await load();
    const count = 3 * RING_LINES;
    for (let at = 0; at < count; at += 100) {
      const stream = at % 1000 === 0 ? 'stderr' : 'stdout';
      const from = log.state.marks[stream];
      const lines = Array.from({ length: 100 }, (_, index) => `line ${at + index}`);
      await log.append({ ...frame(stream, from, from + 1000), lines }, 0);
    }
    const all = await readAll(log);
    expect(all.map(({ text }) => text)).to.deep.equal(
      Array.from({ length: count }, (_, index) => `line ${index}`),
    );
    const queries = [
      { tail: 2000 },
      { tail: 1 },
      { tail: 500, stream: 'stderr' as const },
      { tail: 3, search: '17' },
      { tail: 5, search: 'none' },
    ];
    const answers = () => Promise.all(queries.map(async (query) => (await log.tail(query)).lines));
    const expected = queries.map(({ tail, stream, search = '' }) =>
      all.filter((line) => (!stream || line.stream === stream) && line.text.includes(search)).slice(-tail),
    );
    expect(await answers()).to.deep.equal(expected);
    for (const stream of ['stdout', 'stderr'] as const)
      await log.append({ ...end(stream, 0), from: log.state.marks[stream], to: log.state.marks[stream] }, 0);
    await log.compress();
    expect(await answers()).to.deep.equal(expected);
    for (const seq of [0, 1, 99, 100, 2500, 5999]) {
      expect(await readAll(log, seq)).to.deep.equal(all.slice(seq));
      expect((await log.tail({ from: seq, tail: 150 })).lines).to.deep.equal(all.slice(seq, seq + 150));
    }
  });

  it('leaves no file open that it has read a part of', async () => {
    const log = await load();
    const lines = Array.from({ length: 2 * RING_LINES }, (_, index) => `${index} ${'x'.repeat(100)}`);
    await log.append({ ...frame('stdout', 0, 1), lines }, 0);
    for (let at = 1; at <= 50; at += 1) await log.append({ ...frame('stdout', at, at + 1), lines }, 0);
    await log.append({ ...frame('stdout', 51, 51), end: true }, 0);
    await log.append(end('stderr', 0), 0);
    await log.compress();
    expect((await log.page(cursorBefore(0))).lines).to.have.length(lines.length);
    const open = () => readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`));
    await until(() => open().every((file) => !file?.startsWith(directory)));
  });

  it('keeps a bounded part of a log of long lines in memory', async () => {
    const log = await load();
    const lines = Array.from({ length: 500 }, () => 'x'.repeat(16_000));
    for (let index = 0; index < 4; index += 1)
      await log.append({ ...frame('stdout', index, index + 1), lines }, 0);
    expect(log.memoryBytes).to.be.below(9 * 1024 * 1024);
    expect((await log.tail({ tail: 500 })).lines).to.have.length(500);
  });

  it('is as it was when the disk is full, and takes the frame once there is room', async () => {
    const [one, two] = chain('stdout', 2) as [LogsFrame, LogsFrame];
    const log = await load();
    await log.append(one, 0);
    renameSync(path, `${path}.aside`);
    symlinkSync('/dev/full', path);
    const error = await log.append(two, 0).catch((failure: NodeJS.ErrnoException) => failure);
    expect(error).to.have.property('code', 'ENOSPC');
    expect(log.state.marks.stdout).to.equal(one.to);
    renameSync(`${path}.aside`, path);
    expect(await log.append(two, 0)).to.have.length(2);
    expect(await readAll(await load())).to.have.length(4);
  });
});

/** null: closed meanwhile. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function frame(stream: LogStream, from: number, to: number): LogsFrame {
  return {
    type: 'logs',
    job_id: JOB,
    attempt: 1,
    stream,
    from,
    to,
    ts: 1000 + from,
    lines: [],
    dropped: 0,
    end: false,
  };
}

/** Frames of two lines, each behind the other. */
function chain(stream: LogStream, count: number): LogsFrame[] {
  return Array.from({ length: count }, (_, index) => ({
    ...frame(stream, index * 10, index * 10 + 10),
    lines: [`${stream} ${index} ä\t"quoted"`, `${stream} ${index} second`],
  }));
}

function end(stream: LogStream, after: number): LogsFrame {
  return { ...frame(stream, after * 10, after * 10), end: true };
}

async function readAll(log: AttemptLog, from = 0): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let cursor = cursorBefore(from); ;) {
    const page = await log.page(cursor);
    if (page.lines.length === 0) return lines;
    lines.push(...page.lines);
    cursor = page.next;
  }
}

async function texts(batches: AsyncIterable<{ lines: readonly string[] }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { lines } of batches) all.push(...lines);
  return all;
}
