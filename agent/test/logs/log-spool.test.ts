import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ReleasedLogs } from '../../src/logs/released-logs.js';
import { findHoleProblem } from '../../src/logs/sparse-file.js';
import { until as untilWithin } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const MIB = 1024 * 1024;
const FIRST: AttemptKey = { job_id: 'job_1', attempt: 1 };
const SECOND: AttemptKey = { job_id: 'job_2', attempt: 1 };
const LINE_BYTES = 64;

const toLine = (index: number): string =>
  `line ${String(index).padStart(8, '0')} `.padEnd(LINE_BYTES - 1, '.');
const toLines = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => toLine(from + index));

/** Megabytes go through the disk here, and looks come every second: on a machine under load that takes its time. */
const TEST_MS = 180_000;
const until = <T>(look: () => T | Promise<T>, what: string) => untilWithin(look, { what, timeoutMs: 60_000 });

describe('agent: spool of logs', function () {
  this.timeout(TEST_MS);
  let bench: Bench;
  beforeEach(async function () {
    bench = await Bench.create();
    if ((await findHoleProblem(bench.stateDir)) !== null) this.skip();
  });
  afterEach(() => bench.close());

  const fileOf = (key: AttemptKey, name = 'stdout') =>
    path.join(bench.stateDir, 'jobs', key.job_id, `attempt-${key.attempt}`, name);
  const heldBytes = (key: AttemptKey) => statSync(fileOf(key)).blocks * 512;
  const print = (key: AttemptKey, lines: readonly string[]) =>
    appendFileSync(fileOf(key), lines.map((line) => `${line}\n`).join(''));
  const warnings = () => bench.logged.filter((line) => / (warn|error) /.test(line) && line.includes('spool'));

  async function run(key: AttemptKey): Promise<void> {
    bench.server.dispatch({ ...key, plan: {} });
    await bench.server.running(key);
  }
  const shipped = (key: AttemptKey, count: number) => {
    const { logs } = bench.server;
    return until(() => logs.lines(key).length + logs.dropped(key) >= count, `${count} lines`);
  };
  /** Never more at once than the spool takes: a look that comes before the server has it would give lines up. */
  async function printAndShip(key: AttemptKey, count: number): Promise<void> {
    for (let from = 0; from < count; from += 5_000) {
      print(key, toLines(from, 5_000));
      await shipped(key, from + 5_000);
    }
    expect(bench.server.logs.dropped(key)).to.equal(0);
  }
  /** Everything but what was given up is there once and in order, and the given up is what stood before. */
  function expectWhole(key: AttemptKey, count: number, keptFrom = 0): void {
    const { logs } = bench.server;
    const dropped = logs.dropped(key);
    expect(logs.lines(key).length + dropped).to.equal(count);
    const expected = [...toLines(0, keptFrom), ...toLines(keptFrom + dropped, count - keptFrom - dropped)];
    expect(logs.lines(key)).to.deep.equal(expected);
  }

  it('gives back what the server has, and loses nothing by it', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    await printAndShip(FIRST, 40_000);
    await until(() => heldBytes(FIRST) <= MIB, 'room');
    expect(statSync(fileOf(FIRST)).size).to.equal(40_000 * LINE_BYTES);
    print(FIRST, toLines(40_000, 1));
    await shipped(FIRST, 40_001);
    expectWhole(FIRST, 40_001);
    expect(bench.server.logs.dropped(FIRST)).to.equal(0);
    expect(warnings()).to.deep.equal([]);
  });

  it('gives the oldest lines up while the server is away: counted, said, the others once and in order', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    print(FIRST, toLines(0, 1000));
    await shipped(FIRST, 1000);
    await bench.goAway();
    print(FIRST, toLines(1000, 50_000));
    await until(() => heldBytes(FIRST) <= MIB, 'room');
    print(FIRST, toLines(51_000, 100));
    bench.comeBack();
    await shipped(FIRST, 51_100);
    expectWhole(FIRST, 51_100, 1000);
    expect(bench.server.logs.dropped(FIRST)).to.be.within(30_000, 45_000);
    const gap = bench.server.all('logs').find(({ dropped }) => dropped > 0);
    expect(gap).to.deep.include({ from: 1000 * LINE_BYTES, lines: [], end: false });
    expect(Math.abs((gap?.ts ?? 0) - Date.now())).to.be.below(60_000);
    expect(warnings().join()).to.match(/its oldest lines are given up/);
    bench.runner.endLast();
    await bench.server.ended(FIRST);
    expectWhole(FIRST, 51_100, 1000);
  });

  it('knows after a restart what it has given up, also when it was killed before the bytes were gone', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    await bench.goAway();
    print(FIRST, toLines(0, 50_000));
    await until(() => heldBytes(FIRST) <= MIB, 'room');
    await bench.closeAgents();
    copyFileSync(fileOf(FIRST), fileOf(FIRST, 'copy'));
    execFileSync(
      'dd',
      ['if=/dev/zero', `of=${fileOf(FIRST, 'copy')}`, 'bs=64k', 'count=32', 'conv=notrunc'],
      {
        stdio: 'ignore',
      },
    );
    renameSync(fileOf(FIRST, 'copy'), fileOf(FIRST));
    expect(heldBytes(FIRST)).to.be.above(MIB);
    await bench.start({ spoolMaxBytes: MIB });
    await until(() => heldBytes(FIRST) <= MIB, 'room');
    bench.comeBack();
    await shipped(FIRST, 50_000);
    expectWhole(FIRST, 50_000);
  });

  it('tells a server that has less than it had acknowledged that the rest is gone', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    await printAndShip(FIRST, 40_000);
    await until(() => heldBytes(FIRST) <= MIB, 'room');
    bench.server.logs.truncate(FIRST, 'stdout', 100, 100 * LINE_BYTES);
    bench.server.cut();
    await shipped(FIRST, 40_000);
    expectWhole(FIRST, 40_000, 100);
    expect(bench.server.logs.dropped(FIRST)).to.be.above(20_000);
  });

  it('takes no line from who printed little, when it is another that has just printed much', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    await run(SECOND);
    await bench.goAway();
    print(SECOND, toLines(0, 50_000));
    await until(() => heldBytes(SECOND) <= MIB, 'room');
    print(SECOND, toLines(50_000, 20_000));
    print(FIRST, toLines(0, 500));
    await until(() => heldBytes(SECOND) + heldBytes(FIRST) <= MIB, 'room');
    bench.comeBack();
    await shipped(SECOND, 70_000);
    await shipped(FIRST, 500);
    expect(bench.server.logs.dropped(FIRST)).to.equal(0);
    expectWhole(FIRST, 500);
    expectWhole(SECOND, 70_000);
  });

  it('empties the logs of jobs that are over and shipped before all others', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    print(FIRST, toLines(0, 10_000));
    bench.runner.endLast();
    await bench.server.ended(FIRST);
    await until(() => existsSync(fileOf(FIRST, 'forgotten.json')), 'forgotten.json');
    await run(SECOND);
    await bench.goAway();
    print(SECOND, toLines(0, 12_000));
    await until(() => heldBytes(FIRST) === 0, 'room');
    bench.comeBack();
    await shipped(SECOND, 12_000);
    expect(bench.server.logs.dropped(SECOND)).to.equal(0);
    expectWhole(SECOND, 12_000);
  });

  it('counts logs no more that others have removed', async () => {
    await bench.connect();
    await run(FIRST);
    print(FIRST, toLines(0, 10_000));
    bench.runner.endLast();
    await bench.server.ended(FIRST);
    await until(() => existsSync(fileOf(FIRST, 'forgotten.json')), 'forgotten.json');
    const logs = new ReleasedLogs(path.join(bench.stateDir, 'jobs'));
    await logs.count();
    expect(logs.heldBytes).to.be.within(10_000 * LINE_BYTES, 10_000 * LINE_BYTES + 64 * 1024);
    rmSync(path.dirname(fileOf(FIRST)), { recursive: true });
    await logs.count();
    expect(logs.heldBytes).to.equal(0);
  });

  it('finds the logs that earlier agents left', async () => {
    await bench.connect();
    await run(FIRST);
    print(FIRST, toLines(0, 30_000));
    bench.runner.endLast();
    await bench.server.ended(FIRST);
    await until(() => existsSync(fileOf(FIRST, 'forgotten.json')), 'forgotten.json');
    await bench.closeAgents();
    await bench.start({ spoolMaxBytes: MIB });
    await until(() => heldBytes(FIRST) === 0, 'room');
  });

  it('lets the last state of a progress bar through, however long it was', async () => {
    await bench.connect({ spoolMaxBytes: MIB });
    await run(FIRST);
    await bench.goAway();
    const states = Array.from({ length: 40_000 }, (_, index) => `${toLine(index)}\r`).join('');
    appendFileSync(fileOf(FIRST), states);
    await until(() => heldBytes(FIRST) <= MIB, 'room');
    appendFileSync(fileOf(FIRST), 'done\n');
    bench.comeBack();
    await until(() => bench.server.logs.lines(FIRST).length > 0, 'the line');
    expect(bench.server.logs.lines(FIRST)).to.deep.equal(['done']);
    expect(bench.server.logs.dropped(FIRST)).to.equal(0);
  });

  it('refuses a size of nothing', async () => {
    const error = await bench.start({ spoolMaxBytes: 0 }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(TypeError);
  });
});

describe('agent: spool of logs on a file system of its own', function () {
  this.timeout(TEST_MS);
  let mountPoint: string;
  let bench: Bench;

  async function mount(type: string, options: string): Promise<boolean> {
    mountPoint = mkdtempSync(path.join(os.tmpdir(), 'svc-mount-'));
    try {
      execFileSync('mount', ['-t', type, '-o', options, type, mountPoint], { stdio: 'ignore' });
    } catch {
      rmSync(mountPoint, { recursive: true });
      return false;
    }
    bench = await Bench.create(path.join(mountPoint, 'state'));
    return true;
  }
  async function unmount(): Promise<void> {
    await bench.close();
    execFileSync('umount', ['--lazy', mountPoint]);
    rmSync(mountPoint, { recursive: true });
  }
  const fileOf = ({ job_id }: AttemptKey) => path.join(bench.stateDir, 'jobs', job_id, 'attempt-1', 'stdout');

  it('that cannot punch holes: says so once, and drops nothing', async function () {
    if (!(await mount('ramfs', 'mode=700'))) return this.skip();
    try {
      await bench.connect({ spoolMaxBytes: MIB });
      bench.server.dispatch({ ...FIRST, plan: {} });
      await bench.server.running(FIRST);
      await bench.goAway();
      appendFileSync(fileOf(FIRST), toLines(0, 40_000).join('\n') + '\n');
      const said = () => bench.logged.filter((line) => line.includes('cannot be bounded here'));
      await until(() => said().length > 0, 'the complaint');
      bench.comeBack();
      await until(() => bench.server.logs.lines(FIRST).length === 40_000, 'all lines');
      expect(bench.server.logs.dropped(FIRST)).to.equal(0);
      expect(said()).to.have.length(1);
    } finally {
      await unmount();
    }
  });

  it('that is full: gives back what the server has, and whoever writes can go on', async function () {
    if (!(await mount('tmpfs', 'size=8m,mode=700'))) return this.skip();
    try {
      await bench.connect();
      bench.server.dispatch({ ...FIRST, plan: {} });
      await bench.server.running(FIRST);
      // Three times what the disk takes. Each write goes on behind what the disk took of the last one, as a patient program's.
      const text = Buffer.from(toLines(0, 400_000).join('\n') + '\n');
      const fd = openSync(fileOf(FIRST), 'a');
      for (let at = 0; at < text.length;) {
        at += await until(() => writeSome(fd, text.subarray(at, at + 64 * 1024)), 'room on the disk');
      }
      closeSync(fd);
      await until(() => bench.server.logs.lines(FIRST).length >= 400_000, 'all lines');
      expect(bench.server.logs.lines(FIRST)).to.deep.equal(toLines(0, 400_000));
      expect(bench.server.logs.dropped(FIRST)).to.equal(0);
    } finally {
      await unmount();
    }
  });

  /** A job that has printed 4 MiB, all of which the server has. */
  async function printMuch(): Promise<void> {
    await bench.connect();
    bench.server.dispatch({ ...FIRST, plan: {} });
    await bench.server.running(FIRST);
    appendFileSync(fileOf(FIRST), toLines(0, 4 * (MIB / LINE_BYTES)).join('\n') + '\n');
    await until(() => bench.server.logs.lines(FIRST).length === 4 * (MIB / LINE_BYTES), 'all lines');
  }
  function fillDisk(): void {
    const fd = openSync(path.join(mountPoint, 'filler'), 'a');
    while (writeSome(fd, Buffer.alloc(64 * 1024, 1)) !== null);
    closeSync(fd);
  }
  const heldBytes = () => statSync(fileOf(FIRST)).blocks * 512;

  it('that is full when the agent starts: gives back what the server has of a job that runs', async function () {
    if (!(await mount('tmpfs', 'size=8m,mode=700'))) return this.skip();
    try {
      await printMuch();
      await bench.closeAgents();
      fillDisk();
      await bench.start();
      await until(() => heldBytes() <= MIB, 'room');
      expect(bench.server.logs.dropped(FIRST)).to.equal(0);
    } finally {
      await unmount();
    }
  });

  it('that is full when the agent starts: empties released logs', async function () {
    if (!(await mount('tmpfs', 'size=8m,mode=700'))) return this.skip();
    try {
      await printMuch();
      bench.runner.endLast();
      await until(
        () => existsSync(path.join(path.dirname(fileOf(FIRST)), 'forgotten.json')),
        'forgotten.json',
      );
      await bench.closeAgents();
      fillDisk();
      await bench.start();
      await until(() => heldBytes() === 0, 'room');
    } finally {
      await unmount();
    }
  });
});

/** How much the disk took; null when it is full. */
function writeSome(fd: number, bytes: Buffer): number | null {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return null;
  }
}
