import { expect } from 'chai';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHost, type Host, isAlive } from './support/host.js';

describe('process runner: how a process ends', () => {
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent();
  });
  afterEach(() => host.close());

  it('reports accepted, running and ended in this order, with pid and times', async () => {
    const key = host.sh('exit 0');
    const ended = await host.server.ended(key);
    const running = await host.server.running(key);
    expect(ended).to.deep.include({
      exit: { kind: 'exited', code: 0 },
      pid: running.pid,
      started_at: running.started_at,
    });
    expect(ended.finished_at).to.be.at.least(running.started_at as number);
    expect(running).to.include({ exit: null, finished_at: null });
    const states = host.server.frames.filter(
      (frame) => frame.type === 'accepted' || frame.type === 'attempt',
    );
    expect(states.map((frame) => (frame.type === 'attempt' ? frame.state : frame.type))).to.deep.equal([
      'accepted',
      'running',
      'ended',
    ]);
  });

  it('reports an exit code', async () => {
    const ended = await host.server.ended(host.sh('exit 3'));
    expect(ended.exit).to.deep.equal({ kind: 'exited', code: 3 });
  });

  it('reports a signal by name and negative number', async () => {
    const ended = await host.server.ended(host.sh('kill -SEGV $$'));
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGSEGV', code: -11 });
  });

  it('says that a program was not found, and where', async () => {
    const ended = await host.server.ended(host.run(['no-such-program-here']));
    expect(ended.exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: 'program no-such-program-here was not found in PATH on node-1',
    });
    expect(ended).to.include({ pid: null, started_at: null });
  });

  it('says that a program given by its path does not exist', async () => {
    const ended = await host.server.ended(host.run(['./train.sh'], { working_dir: host.stateDir }));
    const message = `program ${path.join(host.stateDir, 'train.sh')} does not exist on node-1`;
    expect(ended.exit).to.deep.equal({ kind: 'dispatch_failed', message });
  });

  it('says what was meant by a program that is not on the PATH', async () => {
    const directory = { working_dir: host.stateDir };
    const messageOf = async (program: string) => {
      const { exit } = await host.server.ended(host.run([program], directory));
      return exit?.kind === 'dispatch_failed' ? exit.message : exit;
    };
    await writeFile(path.join(host.stateDir, 'train.py'), 'print(1)\n', { mode: 0o600 });
    expect(await messageOf('train.py')).to.equal(
      'program train.py was not found in PATH on node-1: write python3 train.py, or ./train.py after chmod +x train.py',
    );
    await writeFile(path.join(host.stateDir, 'train'), '#!/bin/sh\n', { mode: 0o700 });
    expect(await messageOf('train')).to.equal('program train was not found in PATH on node-1: write ./train');
    expect(await messageOf('python3 train.py --x 1')).to.match(
      /^program python3 train\.py --x 1 was not found in PATH on node-1: leave out the quotes/,
    );
  });

  it('says that working_dir does not exist', async () => {
    const ended = await host.server.ended(host.run(['true'], { working_dir: '/no/such/place' }));
    expect(ended.exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: 'working_dir /no/such/place does not exist on node-1',
    });
  });

  it('says that working_dir is no directory', async () => {
    const ended = await host.server.ended(host.run(['true'], { working_dir: '/etc/hosts' }));
    expect(ended.exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: 'working_dir /etc/hosts is not a directory on node-1',
    });
  });

  it('says that a file may not be executed', async () => {
    const file = path.join(host.stateDir, 'train.sh');
    await writeFile(file, '#!/bin/sh\n', { mode: 0o600 });
    const ended = await host.server.ended(host.run([file]));
    expect(ended.exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: `permission denied: ${file} cannot be executed on node-1: write sh ${file}, or ${file} after chmod +x ${file}`,
    });
  });

  it('says that the interpreter of a script is missing', async () => {
    const file = path.join(host.stateDir, 'train.sh');
    await writeFile(file, '#!/no/such/interpreter\n');
    await chmod(file, 0o700);
    const ended = await host.server.ended(host.run([file]));
    expect(ended.exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: `program ${file} names an interpreter that does not exist on node-1`,
    });
  });

  it('says that the node has no such runner', async () => {
    const ended = await host.server.ended(host.run(['true'], { runner: 'slurm' }));
    expect(ended.exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: 'runner slurm is not part of the agent on node-1',
    });
  });

  it('runs the next job after one that could not be started', async () => {
    await host.server.ended(host.run(['no-such-program-here']));
    const ended = await host.server.ended(host.sh('exit 7'));
    expect(ended.exit).to.deep.equal({ kind: 'exited', code: 7 });
  });

  it('passes arguments as they are: no shell reads them', async () => {
    const key = host.run(['printf', '%s\\n', '$HOME', '`id`', 'a b', "'", '']);
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.deep.equal(['$HOME', '`id`', 'a b', "'", '']);
  });

  it('leaves nothing of the group when the main process has ended', async () => {
    const key = host.sh('sleep 300 & echo $!; exit 0');
    await host.server.ended(key);
    expect(await isAlive(Number(host.server.logs.lines(key)[0]))).to.equal(false);
  });

  it('runs many jobs at once, each with its own exit code', async () => {
    const keys = Array.from({ length: 12 }, (_, code) => host.sh(`exit ${code}`));
    const ends = await Promise.all(keys.map((key) => host.server.ended(key)));
    expect(ends.map(({ exit }) => exit)).to.deep.equal(keys.map((_, code) => ({ kind: 'exited', code })));
  });
});
