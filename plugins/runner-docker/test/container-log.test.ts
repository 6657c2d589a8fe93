import { expect } from 'chai';
import type { Container } from 'dockerode';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { ContainerLog, type LogMarks } from '../src/agent/container-log.js';

/** Seconds since the Unix epoch. */
type Line = readonly [second: number, text: string];
const NOON = 1_700_000_000;
const NONE = { time: null, offset: 0, first: 0 };

/** As the engine: in the order of writing, without what is older than asked. */
const containerOf = (lines: readonly Line[]) =>
  ({
    logs: async ({ since }: { since?: string }) =>
      Readable.from(lines.filter(([second]) => since === undefined || second >= Number(since)).map(toFrame)),
  }) as unknown as Container;

function toFrame([second, text]: Line): Buffer {
  const payload = Buffer.from(`${new Date(second * 1000).toISOString()} ${text}\n`);
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

describe('the log of a container under a clock that is set back', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(path.join(os.tmpdir(), 'svc-log-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  const paths = () => ({ stdout: path.join(dir, 'stdout'), stderr: path.join(dir, 'stderr') });
  const open = (marks: LogMarks = { stdout: NONE, stderr: NONE }) => new ContainerLog(paths(), marks);
  const copy = (log: ContainerLog, lines: readonly Line[]) =>
    log.copy(containerOf(lines), new AbortController().signal, () => {});
  const linesFrom = (second: number, from: number) =>
    Array.from({ length: 5 }, (_, index): Line => [second + index, `line ${from + index}`]);
  const expectAll = (lines: readonly Line[]) =>
    expect(readFileSync(paths().stdout, 'utf8').trimEnd().split('\n')).to.deep.equal(
      lines.map(([, text]) => text),
    );

  const before = linesFrom(NOON, 1);
  const back = linesFrom(NOON - 3600, 6);
  const later = linesFrom(NOON + 100, 11);

  it('has each line once when one stream is followed over the change, and the next agent goes on', async () => {
    const log = open();
    await copy(log, [...before, ...back]);
    await copy(log, [...before, ...back]);
    expectAll([...before, ...back]);
    const next = open(log.marks);
    await copy(next, [...before, ...back, ...later]);
    await copy(open(next.marks), [...before, ...back, ...later]);
    expectAll([...before, ...back, ...later]);
  });

  it('misses no line that was written while nobody read, as long as the clock is behind', async () => {
    const ahead = linesFrom(Math.floor(Date.now() / 1000) + 3600, 1);
    const now = linesFrom(Math.floor(Date.now() / 1000), 6);
    const log = open();
    await copy(log, ahead);
    await copy(open(log.marks), [...ahead, ...now]);
    expectAll([...ahead, ...now]);
  });
});
