import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { spawn, type StdioOptions } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  identify,
  isGroupAlive,
  isRunning,
  listDescendants,
  signalGroup,
  sweep,
  sweepMarked,
  type AttemptMark,
  type AttemptSigns,
  type ProcessIdentity,
} from '../src/agent/process-table.js';
import { FORGETFUL } from './support/forgetful.js';
import { startSlowDeath } from './support/slow-death.js';

/** Starts a group of its own that carries the mark. */
function start(script: string, env: Record<string, string>, stdio: StdioOptions = 'ignore') {
  const child = spawn('sh', ['-c', script], {
    detached: true,
    stdio,
    env: { PATH: process.env['PATH'], ...env },
  });
  const identity = identify(child.pid as number);
  if (identity === null) throw new Error('it did not start');
  return identity;
}

/** Its main thread has ended. */
function isZombie({ pid }: ProcessIdentity): boolean {
  return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

function signs(
  mark: AttemptMark,
  leader: ProcessIdentity | null = null,
  outputs: readonly string[] = [],
): AttemptSigns {
  return { mark, leader, outputs };
}

describe('agent: process table', () => {
  const mark = { SVC_TEST_MARK: `${process.pid}-${Date.now()}` };

  it('tells a process from a later one with its pid', async () => {
    const it = start('exec sleep 300', mark);
    expect(isRunning(it)).to.equal(true);
    expect(isRunning({ ...it, start_ticks: it.start_ticks + 1 })).to.equal(false);
    await sweep(signs(mark, it));
    expect(isRunning(it)).to.equal(false);
    expect(identify(2 ** 30)).to.equal(null);
  });

  it('does not signal the group of another process that has the pid now', async () => {
    const it = start('exec sleep 300', mark);
    const earlier = { ...it, start_ticks: it.start_ticks - 1 };
    signalGroup(earlier, 'SIGKILL');
    expect(isGroupAlive(earlier)).to.equal(false);
    await sweep(signs({ SVC_TEST_MARK: 'of nobody' }, earlier));
    expect(isRunning(it)).to.equal(true);
    await sweep(signs(mark, it));
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
    expect(await sweep(signs(mark))).to.deep.equal([]);
    expect(isRunning(mine)).to.equal(false);
    expect(isRunning(other)).to.equal(true);
    await sweep(signs({ SVC_TEST_MARK: `${mark.SVC_TEST_MARK}-of-another` }));
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
      expect(await sweep(signs({ ...mark, FAMILY: String(family) }, leader))).to.deep.equal([]);
      const left: number[] = [];
      await sweepMarked(mark, (env) => env.get('FAMILY') === String(family) && left.push(1) > 0);
      expect(left).to.deep.equal([]);
    }
  });

  describe('of processes that wrote over their environment in a session of their own', () => {
    let dir: string;
    beforeEach(async () => {
      dir = await mkdtemp(path.join(os.tmpdir(), 'svc-process-table-'));
    });
    afterEach(() => rm(dir, { recursive: true, force: true }));

    /** One that prints its pid to the file, and goes on under a parent that waits for it. */
    async function startForgetful(file: string): Promise<ProcessIdentity & { parent: ProcessIdentity }> {
      const fd = openSync(file, 'a');
      const parent = start(`python3 -S -c '${FORGETFUL}' & wait`, mark, ['ignore', fd, 'ignore']);
      closeSync(fd);
      const pid = await until(() => Number(readFileSync(file, 'utf8')) || null, 'its pid');
      return { ...(identify(pid) as ProcessIdentity), parent };
    }

    it('knows one by the file that it writes to, and spares what writes elsewhere', async () => {
      const [mine, other] = await Promise.all([
        startForgetful(path.join(dir, 'stdout')),
        startForgetful(path.join(dir, 'stdout-of-another')),
      ]);
      await symlink(dir, path.join(dir, 'link'));
      expect(await sweep(signs(mark, null, [path.join(dir, 'link', 'stdout')]))).to.deep.equal([]);
      expect([isRunning(mine), isRunning(other)]).to.deep.equal([false, true]);
      await sweep(signs({}, null, [path.join(dir, 'stdout-of-another')]));
      expect(isRunning(other)).to.equal(false);
    });

    it('knows one by a file that has been removed since', async () => {
      const file = path.join(dir, 'stdout');
      const it = await startForgetful(file);
      rmSync(file);
      await sweep(signs(mark, null, [file]));
      expect(isRunning(it)).to.equal(false);
    });

    it('knows one by its parents, when they have been asked while they lived', async () => {
      const { parent, ...it } = await startForgetful(path.join(dir, 'stdout'));
      const family = listDescendants(parent);
      expect(family.map(({ pid }) => pid)).to.deep.equal([it.pid]);
      await sweep(signs(mark, parent));
      expect([isRunning(parent), isRunning(it)]).to.deep.equal([false, true]);
      expect(listDescendants(parent)).to.deep.equal([]);
      await sweep({ ...signs(mark, parent), family });
      expect(isRunning(it)).to.equal(false);
    });
  });

  it('kills a process whose main thread has ended while another goes on', async () => {
    const script = [
      'import ctypes, os, threading, time',
      'threading.Thread(target=time.sleep, args=(300,)).start()',
      'ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)',
    ].join('\n');
    const it = start(`exec python3 -S -c '${script}'`, mark);
    await until(() => isZombie(it), 'the end of the main thread');
    expect(isRunning(it)).to.equal(true);
    expect(isGroupAlive(it)).to.equal(true);
    expect(await sweep(signs(mark))).to.deep.equal([]);
    await until(() => identify(it.pid) === null, 'its end');
  });

  it('is not done with a killed process before all of its threads have ended, and says so when it gives up', async () => {
    const it = await startSlowDeath(mark);
    try {
      expect(await sweep(signs(mark), { limitMs: 500 })).to.deep.equal([it.pid]);
      expect(isZombie(it)).to.equal(true);
      expect(isRunning(it)).to.equal(true);
    } finally {
      await it.release();
    }
    expect(await sweep(signs(mark, it))).to.deep.equal([]);
    expect(isRunning(it)).to.equal(false);
  });

  it('remembers what it has killed, for a process that is taken down loses its environment first', async () => {
    const it = await startSlowDeath(mark);
    try {
      const seen = { ...mark };
      const swept = sweep(signs(seen), { limitMs: 500 });
      seen.SVC_TEST_MARK = 'as if it had none any more';
      expect(await swept).to.deep.equal([it.pid]);
    } finally {
      await it.release();
    }
  });

  it('waits for a killed process no longer than it is wanted to', async () => {
    const it = await startSlowDeath(mark);
    try {
      const closing = new AbortController();
      const swept = sweep(signs(mark), { signal: closing.signal });
      await until(() => isZombie(it), 'the end of its main thread');
      closing.abort();
      expect(await swept).to.deep.equal([it.pid]);
    } finally {
      await it.release();
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
    await sweep(signs({}));
    await sweepMarked({}, () => true);
    expect(isRunning(it)).to.equal(true);
    await sweep(signs(mark, it));
  });

  it('never signals more than a process or its group', () => {
    for (const pid of [0, 1, -1, NaN]) {
      expect(() => signalGroup({ pid, start_ticks: 0 }, 'SIGTERM')).to.throw(RangeError);
    }
  });
});
