import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { identify, isGroupAlive, isRunning, signalGroup, sweep, sweepMarked } from '../src/process-table.js';
import { until } from '../testing/index.js';

/** Starts a group of its own that carries the mark. */
function start(script: string, env: Record<string, string>) {
  const child = spawn('sh', ['-c', script], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], ...env },
  });
  const identity = identify(child.pid as number);
  if (identity === null) throw new Error('it did not start');
  return identity;
}

describe('agent: process table', () => {
  const mark = { SVC_TEST_MARK: `${process.pid}-${Date.now()}` };

  it('tells a process from a later one with its pid', async () => {
    const it = start('exec sleep 300', mark);
    expect(isRunning(it)).to.equal(true);
    expect(isRunning({ ...it, start_ticks: it.start_ticks + 1 })).to.equal(false);
    await sweep(mark, it);
    expect(isRunning(it)).to.equal(false);
    expect(identify(2 ** 30)).to.equal(null);
  });

  it('does not signal the group of another process that has the pid now', async () => {
    const it = start('exec sleep 300', mark);
    const earlier = { ...it, start_ticks: it.start_ticks - 1 };
    signalGroup(earlier, 'SIGKILL');
    expect(isGroupAlive(earlier)).to.equal(false);
    await sweep({ SVC_TEST_MARK: 'of nobody' }, earlier);
    expect(isRunning(it)).to.equal(true);
    await sweep(mark, it);
  });

  it('sees a group as long as one of it lives', async () => {
    const it = start('sleep 300 & exit 0', mark);
    await until(() => !isRunning(it), 'the end of the leader');
    expect(isGroupAlive(it)).to.equal(true);
    signalGroup(it, 'SIGKILL');
    await until(() => !isGroupAlive(it), 'the end of the group');
  });

  it('kills what carries the mark and spares what does not', async () => {
    const mine = start('setsid sleep 300 & exec sleep 300', mark);
    const other = start('exec sleep 300', { SVC_TEST_MARK: `${mark.SVC_TEST_MARK}-of-another` });
    expect(await sweep(mark, null)).to.deep.equal([]);
    expect(isRunning(mine)).to.equal(false);
    expect(isRunning(other)).to.equal(true);
    await sweep({ SVC_TEST_MARK: `${mark.SVC_TEST_MARK}-of-another` }, null);
    expect(isRunning(other)).to.equal(false);
  });

  it('finds the last of a family that goes on forking and leaving its session while it looks', async () => {
    const generations = 400;
    const script = [
      'import os, time',
      `for generation in range(${generations}):`,
      '    if os.fork(): os._exit(0)',
      '    os.setsid()',
      'time.sleep(300)',
    ].join('\n');
    for (let family = 0; family < 5; family++) {
      const leader = start(`exec python3 -S -c '${script}'`, { ...mark, FAMILY: String(family) });
      await until(() => !isRunning(leader), 'the first generation');
      expect(await sweep({ ...mark, FAMILY: String(family) }, leader)).to.deep.equal([]);
      const left: number[] = [];
      await sweepMarked(mark, (env) => env.get('FAMILY') === String(family) && left.push(1) > 0);
      expect(left).to.deep.equal([]);
    }
  });

  it('asks about each marked process when it is told to', async () => {
    const [one, two] = [
      start('exec sleep 300', { ...mark, N: '1' }),
      start('exec sleep 300', { ...mark, N: '2' }),
    ];
    await sweepMarked(mark, (env) => env.get('N') === '1');
    expect([isRunning(one), isRunning(two)]).to.deep.equal([false, true]);
    await sweepMarked(mark, (env) => env.get('M') === null);
    expect(isRunning(two)).to.equal(false);
  });

  it("takes an empty mark for nobody's", async () => {
    const it = start('exec sleep 300', mark);
    await sweep({}, null);
    await sweepMarked({}, () => true);
    expect(isRunning(it)).to.equal(true);
    await sweep(mark, it);
  });

  it('never signals more than a process or its group', () => {
    for (const pid of [0, 1, -1, NaN]) {
      expect(() => signalGroup({ pid, start_ticks: 0 }, 'SIGTERM')).to.throw(RangeError);
    }
  });
});
