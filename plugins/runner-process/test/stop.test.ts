import { until } from '@svc/agent/testing';
import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { FORGETFUL } from './support/forgetful.js';
import { createHost, type Host, isAlive } from './support/host.js';

describe('process runner: stop', () => {
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent();
  });
  afterEach(() => host.close());

  /** The pids that the job prints, one a line. */
  async function pids(key: AttemptKey, count: number): Promise<number[]> {
    await until(() => host.server.logs.lines(key).length >= count, `${count} pids`);
    return host.server.logs.lines(key).map(Number);
  }

  async function expectAllGone(list: readonly number[]): Promise<void> {
    for (const pid of list) expect(await isAlive(pid), String(pid)).to.equal(false);
  }

  it('asks with SIGTERM, and reports it as minus 15', async () => {
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    host.server.stop(key, 5000);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
    await expectAllGone([pid as number]);
  });

  it('reports the exit code of a process that ends in its own way', async () => {
    const key = host.sh('trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.01; done');
    await until(() => host.server.logs.lines(key).length === 1, 'ready');
    host.server.stop(key, 5000);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'exited', code: 5 });
    expect(host.server.logs.lines(key)).to.deep.equal(['ready', 'bye']);
  });

  it('kills after the grace what ignores SIGTERM, grandchildren too', async () => {
    const key = host.sh(
      'trap "" TERM; sh -c \'echo $$; while :; do sleep 1; done\' & echo $$; while :; do sleep 1; done',
    );
    const list = await pids(key, 2);
    host.server.stop(key, 100);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGKILL', code: -9 });
    await expectAllGone(list);
  });

  it('leaves the rest of the grace to children whose parent has gone', async () => {
    const child = 'trap "sleep 0.3; echo saved; exit" TERM; echo ready; while :; do sleep 0.01; done';
    const key = host.sh(`sh -c '${child}' & exec sleep 300`);
    await until(() => host.server.logs.lines(key).length === 1, 'ready');
    host.server.stop(key, 5000);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
    expect(host.server.logs.lines(key)).to.deep.equal(['ready', 'saved']);
  });

  it('finds processes that left the session, double-forked or not', async () => {
    const escaped = 'trap "" TERM; echo $$; while :; do sleep 1; done';
    const key = host.sh(
      `setsid sh -c '${escaped}' & (setsid sh -c '${escaped}' &) ; (sh -c '${escaped}' &) ; exec sleep 300`,
    );
    const list = await pids(key, 3);
    host.server.stop(key, 100);
    await host.server.ended(key);
    await expectAllGone(list);
  });

  it('finds processes that left the session without a stop, when the main process ends', async () => {
    const key = host.sh('setsid sh -c "echo \\$\\$; sleep 300" & sleep 0.2; exit 0');
    const list = await pids(key, 1);
    await host.server.ended(key);
    await expectAllGone(list);
  });

  it('finds a process that left the session and wrote over its environment, when the main process ends', async () => {
    const forgetful = `python3 -S -c '${FORGETFUL}'`;
    const key = host.sh(`${forgetful} & while [ ! -s ../stdout ]; do sleep 0.01; done`);
    const list = await pids(key, 1);
    await host.server.ended(key);
    await expectAllGone(list);
  });

  it('finds one on a stop though it writes elsewhere', async () => {
    const forgetful = `python3 -S -c '${FORGETFUL}' > rank 2>&1`;
    const key = host.sh(`${forgetful} & while [ ! -s rank ]; do sleep 0.01; done; cat rank; exec sleep 300`);
    const list = await pids(key, 1);
    host.server.stop(key, 5000);
    await host.server.ended(key);
    await expectAllGone(list);
  });

  it('stops a process that is itself stopped', async () => {
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    process.kill(pid as number, 'SIGSTOP');
    host.server.stop(key, 5000);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
  });

  it('stops twice as once, and the shorter grace holds', async () => {
    const key = host.sh('trap "" TERM; echo ready; while :; do sleep 1; done');
    await until(() => host.server.logs.lines(key).length === 1, 'ready');
    host.server.stop(key, 60_000);
    host.server.stop(key, 0);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGKILL', code: -9 });
    expect(host.server.all('attempt').filter(({ state }) => state === 'ended')).to.have.length(1);
  });

  it('starts nothing when the stop overtakes the start', async () => {
    const key = host.sh('echo started');
    host.server.stop(key, 5000);
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({
      kind: 'lost',
      reason: 'it was stopped on node-1 before it was started',
    });
    expect(ended.started_at).to.equal(null);
    expect(host.server.logs.lines(key)).to.deep.equal([]);
  });

  it('touches no other job', async () => {
    const other = host.run(['sleep', '300']);
    const key = host.run(['sleep', '300']);
    const [{ pid }] = await Promise.all([host.server.running(other), host.server.running(key)]);
    host.server.stop(key, 5000);
    await host.server.ended(key);
    expect(await isAlive(pid as number)).to.equal(true);
  });

  it('reports as lost what it is told to stop and does not have', async () => {
    host.server.stop({ job_id: 'job_unknown', attempt: 2 }, 0);
    const frame = await host.server.frame('attempt');
    expect(frame).to.deep.include({ job_id: 'job_unknown', attempt: 2, state: 'ended' });
    expect(frame.exit).to.deep.equal({ kind: 'lost', reason: 'node node-1 has no such attempt' });
  });
});
