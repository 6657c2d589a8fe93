import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { findHoleProblem } from '../../src/logs/sparse-file.js';
import { until as untilWithin } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const KEY: AttemptKey = { job_id: 'job_1', attempt: 1 };
const MIB = 1024 * 1024;

const isNotice = (line: string) => line.startsWith('[svc] the job emptied its own log here');
const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line ${from + index} `.padEnd(63, '.'));

/** Megabytes go through the disk here, and looks come every second: on a machine under load that takes its time. */
const until = <T>(look: () => T | Promise<T>, what: string) => untilWithin(look, { what, timeoutMs: 60_000 });

describe('agent: the log of a job that empties it', function () {
  this.timeout(180_000);
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const fileOf = (name: string) => path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1', name);
  const print = (...lines: string[]) =>
    appendFileSync(fileOf('stderr'), lines.map((line) => `${line}\n`).join(''));
  const log = () => bench.server.logs.lines(KEY, 'stderr');
  const dropped = () => bench.server.logs.dropped(KEY, 'stderr');
  /** What the log says, with `svc` in place of the line that says that it was emptied. */
  const said = () => log().map((line) => (isNotice(line) ? 'svc' : line));
  const shipped = (line: string) => until(() => log().at(-1) === line, `"${line}"`);

  /** Runs in a shell with the descriptors that a shim hands to a job. */
  function inShell(script: string): void {
    const [stdout, stderr] = [openSync(fileOf('stdout'), 'a'), openSync(fileOf('stderr'), 'a')];
    execFileSync('sh', ['-c', script], { stdio: ['ignore', stdout, stderr] });
    closeSync(stdout);
    closeSync(stderr);
  }
  async function run(spoolMaxBytes?: number): Promise<void> {
    await bench.connect({ spoolMaxBytes });
    bench.server.dispatch({ ...KEY, plan: {} });
    await bench.server.running(KEY);
  }

  it('goes on with what it writes then, and says what has happened', async () => {
    await run();
    print('one', 'two', 'three');
    await shipped('three');
    inShell('echo oops > /dev/stderr; echo after >&2');
    await shipped('after');
    inShell('echo as well | tee /dev/stderr');
    await shipped('as well');
    expect(said()).to.deep.equal(['one', 'two', 'three', 'svc', 'oops', 'after', 'svc', 'as well']);
    expect(log()[3]).to.match(/opened \/dev\/stderr anew.*>> \/dev\/stderr.* descriptor 2\.$/);
    bench.runner.endLast();
    await bench.server.ended(KEY);
    expect(bench.server.logs.lines(KEY, 'stdout')).to.deep.equal(['as well']);
    expect([dropped(), bench.server.logs.refused(KEY, 'stderr')]).to.deep.equal([0, 0]);
  });

  it('notices it though the file is as long as before, or longer', async () => {
    await run();
    inShell('echo step 1 > /dev/stderr');
    await shipped('step 1');
    inShell('echo step 2 > /dev/stderr');
    await shipped('step 2');
    inShell('echo much more than before > /dev/stderr');
    await shipped('much more than before');
    expect(said()).to.deep.equal(['step 1', 'svc', 'step 2', 'svc', 'much more than before']);
  });

  it('notices it when that is the last thing that the job does', async () => {
    await run();
    print('a longer line');
    await shipped('a longer line');
    inShell('echo bye > /dev/stderr');
    bench.runner.endLast();
    await bench.server.ended(KEY);
    expect(said()).to.deep.equal(['a longer line', 'svc', 'bye']);
  });

  it('keeps the line that had no end yet', async () => {
    await run();
    appendFileSync(fileOf('stderr'), 'one\nno end');
    await shipped('one');
    inShell('echo oops > /dev/stderr');
    await shipped('oops');
    expect(said()).to.deep.equal(['one', 'no end', 'svc', 'oops']);
  });

  it('is the same for the next agent, and for a server that has lost what it had', async () => {
    await run();
    print('one', 'two', 'three');
    await shipped('three');
    inShell('echo oops > /dev/stderr');
    await shipped('oops');
    await bench.closeAgents();
    print('meanwhile');
    await bench.connect();
    await shipped('meanwhile');
    expect(said()).to.deep.equal(['one', 'two', 'three', 'svc', 'oops', 'meanwhile']);
    bench.server.logs.truncate(KEY, 'stderr', 1, 'one\n'.length);
    bench.server.cut();
    await shipped('meanwhile');
    expect(said()).to.deep.equal(['one', 'svc', 'oops', 'meanwhile']);
    expect(dropped()).to.equal(2);
  });

  it('is told after an outage in which it happened', async () => {
    await run();
    print('one', 'two');
    await shipped('two');
    await bench.goAway();
    print('nobody', 'has', 'read', 'this');
    inShell('echo oops > /dev/stderr');
    bench.comeBack();
    await shipped('oops');
    expect(said()).to.deep.equal(['one', 'two', 'svc', 'oops']);
  });

  it('is kept in bounds as any other', async function () {
    if ((await findHoleProblem(bench.stateDir)) !== null) return this.skip();
    await run(MIB);
    print('one', 'two');
    await shipped('two');
    inShell('echo oops > /dev/stderr');
    await shipped('oops');
    await bench.goAway();
    const lines = numbered(0, 50_000);
    print(...lines);
    await until(() => statSync(fileOf('stderr')).blocks * 512 <= MIB, 'room');
    bench.comeBack();
    await until(() => log().length + dropped() === 4 + lines.length, 'all lines');
    const kept = said();
    expect(kept.slice(0, 4)).to.deep.equal(['one', 'two', 'svc', 'oops']);
    expect(dropped()).to.be.within(30_000, 45_000);
    expect(kept.slice(4)).to.deep.equal(lines.slice(dropped()));
  });

  it('is kept in bounds also when it is emptied while the server is away', async function () {
    if ((await findHoleProblem(bench.stateDir)) !== null) return this.skip();
    await run(MIB);
    // Never more at once than the spool takes: a look that comes before the server has it would give lines up.
    for (let from = 0; from < 40_000; from += 5_000) {
      print(...numbered(from, 5_000));
      await until(() => log().length === from + 5_000, 'the first lines');
    }
    await until(() => statSync(fileOf('stderr')).blocks * 512 <= MIB, 'room');
    await bench.goAway();
    truncateSync(fileOf('stderr'));
    await until(
      () => JSON.parse(readFileSync(fileOf('cut.json'), 'utf8')).stderr.start.to > 0,
      'a new start',
    );
    const lines = numbered(100_000, 50_000);
    print(...lines);
    await until(() => statSync(fileOf('stderr')).blocks * 512 <= MIB, 'room');
    bench.comeBack();
    await until(() => log().length + dropped() === 40_001 + lines.length, 'all lines');
    expect(said()[40_000]).to.equal('svc');
    expect(said().slice(40_001)).to.deep.equal(lines.slice(dropped()));
  });
});
