import { expect } from 'chai';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { lockStateDir, type LockOptions, type StateDirLock } from '../../src/host/state-dir-lock.js';
import { until } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const HOLDER = fileURLToPath(new URL('../support/lock-holder.ts', import.meta.url));
const TAKEN = 'another agent already works on';

describe('agent: lock of the state directory', () => {
  let dir: string;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'svc-lock-'));
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map(kill));
    await rm(dir, { recursive: true });
  });

  const refusal = (stateDir: string, options?: LockOptions) =>
    lockStateDir(stateDir, options).then(
      () => 'locked',
      (error: Error) => error.message,
    );
  const claims = () => readdir(dir);

  /** A process that tries for the lock, and what it says. `within`: a program that starts it. */
  async function hold(within: readonly string[] = []): Promise<{ child: ChildProcess; said: string }> {
    const command = [...within, process.execPath, '--import', 'tsx'];
    const [program, ...args] = [...command, '--conditions=svc-source', HOLDER, dir];
    const child = spawn(program as string, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const [said] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { child, said };
  }
  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  it('lets one agent work on a state directory, by whatever path', async () => {
    const alias = `${dir}-alias`;
    await symlink(dir, alias);
    const { unlock } = await lockStateDir(dir);
    expect(await refusal(alias)).to.include(TAKEN);
    await unlock();
    await (await lockStateDir(alias)).unlock();
    await rm(alias);
  });

  it('leaves nothing behind', async () => {
    await (await lockStateDir(dir)).unlock();
    expect(await claims()).to.deep.equal([]);
  });

  it('locks a directory whose path is longer than the name of a socket can be', async () => {
    const long = path.join(dir, 'x'.repeat(120), 'y'.repeat(120));
    await mkdir(long, { recursive: true });
    const { unlock } = await lockStateDir(long);
    expect(await refusal(long)).to.include(TAKEN);
    await unlock();
  });

  it('keeps the process alive while it holds the lock, whatever else goes on', async () => {
    const handles = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    const before = handles();
    const { unlock } = await lockStateDir(dir);
    expect(handles()).to.equal(before + 1);
    await unlock();
    await until(() => handles() === before, 'the end of the lock');
  });

  it('is had by exactly one of many that are started at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockStateDir(dir)));
      const held = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(held).to.have.length(1);
      await (held[0] as StateDirLock).unlock();
    }
  });

  it('is gone with a process that is killed, at once', async () => {
    const { child, said } = await hold();
    expect(said).to.equal('locked');
    expect(await refusal(dir)).to.include(TAKEN);
    await kill(child);
    await (await lockStateDir(dir)).unlock();
    expect(await claims()).to.deep.equal([]);
  });

  it('stays with a process that stands still', async () => {
    const { child } = await hold();
    child.kill('SIGSTOP');
    expect(await refusal(dir)).to.include(TAKEN);
  });

  for (const [what, command] of [
    ['network', ['unshare', '--net']],
    ['process', ['unshare', '--pid', '--fork', '--kill-child=SIGKILL']],
    [
      'process, network and mount',
      ['unshare', '--pid', '--net', '--mount-proc', '--fork', '--kill-child=SIGKILL'],
    ],
  ] as const)
    it(`holds between ${what} namespaces, as between containers on one volume`, async function () {
      if (!succeeds([...command, 'true'])) return this.skip();
      const first = await hold(command);
      expect(first.said).to.equal('locked');
      const second = await hold(command);
      expect(second.said).to.equal(
        `refused: another agent already works on ${dir}: stop that one, or give this one its own with --state-dir DIR`,
      );
      await kill(first.child);
      await until(async () => (await hold(command)).said === 'locked', {
        what: 'the lock',
        timeoutMs: 5_000,
      });
    });

  describe('on a file system that other hosts share', () => {
    const claimOfOther = () => path.join(dir, 'lock.boot-of-another-host.0123456789abcdef.sock');
    async function leaveClaim(ageMs: number): Promise<void> {
      await writeFile(claimOfOther(), '');
      const at = new Date(Date.now() - ageMs);
      await utimes(claimOfOther(), at, at);
    }

    it('is not taken from an agent of another host that has renewed it within a minute', async () => {
      await leaveClaim(30_000);
      expect(await refusal(dir, { isShared: true })).to.match(
        /^an agent of another host.* renewed its lock 3\d s ago; give each host its own with --state-dir/,
      );
      expect(await claims()).to.deep.equal([path.basename(claimOfOther())]);
    });

    it('is taken once it was not renewed for a minute; on a local disk at once, after a restart of the host', async () => {
      await leaveClaim(61_000);
      await (await lockStateDir(dir, { isShared: true })).unlock();
      await leaveClaim(0);
      await (await lockStateDir(dir, { isShared: false })).unlock();
      expect(await claims()).to.deep.equal([]);
    });

    it('is renewed, and says when it was taken away', async () => {
      const lock = await lockStateDir(dir, { isShared: true, renewMs: 10 });
      const other = { isShared: true, bootId: 'other' };
      const [name] = await claims();
      const file = path.join(dir, name as string);
      const longAgo = new Date(0);
      await utimes(file, longAgo, longAgo);
      await until(async () => /renewed its lock 0 s/.test(await refusal(dir, other)), 'a renewal');
      await unlink(file);
      await lock.lost;
      await lock.unlock();
    });
  });

  it('refuses a second agent, and ends one from which it was taken', async () => {
    const bench = await Bench.create(path.join(dir, 'state'));
    await bench.connect();
    const second = await bench.start().catch((error: Error) => error.message);
    expect(second).to.include(TAKEN);
    const name = (await readdir(bench.stateDir)).find((each) => each.startsWith('lock.'));
    await unlink(path.join(bench.stateDir, name as string));
    await until(
      () => bench.logged.some((line) => line.includes('the lock on the state directory was removed')),
      'its end',
    );
    await bench.closeAgents();
    await bench.connect();
    await bench.close();
  });
});

/** Who is not root may not make namespaces. */
function succeeds([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, args).status === 0;
}
