import { until } from '@svc/agent/testing';
import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHost, type Host, isAlive } from './support/host.js';

/** Shell: numbers, line by line, until the file is there. */
const countUntil = (file: string) =>
  `i=0; while [ ! -e ${file} ]; do i=$((i+1)); echo $i; sleep 0.01; done; exit 7`;
const waitUntil = (file: string) => `while [ ! -e ${file} ]; do sleep 0.01; done`;
const numbers = (to: number) => Array.from({ length: to }, (_, index) => String(index + 1));

describe('process runner: agents come and go, jobs stay', () => {
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
  });
  afterEach(() => host.close());

  async function shimOf(key: AttemptKey): Promise<number> {
    const { state } = (await host.json(key, 'state.json')) as { state: { shim: { pid: number } } };
    return state.shim.pid;
  }

  /** A job goes on once it is written. */
  const enough = () => path.join(host.stateDir, 'enough');

  async function expectAllLines(key: AttemptKey): Promise<void> {
    const written = (await readFile(host.file(key, 'stdout'), 'utf8')).trimEnd().split('\n');
    expect(written).to.deep.equal(numbers(written.length));
    expect(host.server.logs.lines(key)).to.deep.equal(written);
  }

  const hellos = () => host.server.all('hello');
  const reported = (key: AttemptKey) =>
    hellos()
      .at(-1)
      ?.attempts.find((report) => report.job_id === key.job_id);

  it('leaves the job running when it closes, and the next agent has it again, no line lost or doubled', async () => {
    await host.startAgent();
    const key = host.sh(countUntil(enough()));
    const { pid } = await host.server.running(key);
    await until(() => host.server.logs.lines(key).length >= 20, 'some lines');
    await host.closeAgent();
    expect(await isAlive(pid as number)).to.equal(true);
    await host.startAgent();
    expect(reported(key)).to.include({ state: 'running', pid });
    await writeFile(enough(), '');
    const ended = await host.server.ended(key);
    expect(ended).to.deep.include({ pid, exit: { kind: 'exited', code: 7 } });
    await expectAllLines(key);
    expect(host.server.logs.refused(key)).to.equal(0);
  });

  it('is killed with the job unharmed, again and again', async () => {
    let agent = await host.spawnAgent();
    const key = host.sh(countUntil(enough()));
    const { pid } = await host.server.running(key);
    for (let round = 0; round < 2; round++) {
      expect(await agent.end('SIGKILL')).to.equal('SIGKILL');
      expect(await isAlive(pid as number)).to.equal(true);
      agent = await host.spawnAgent();
      expect(reported(key)).to.include({ state: 'running', pid });
    }
    await writeFile(enough(), '');
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'exited', code: 7 });
    await expectAllLines(key);
  }).timeout(120_000);

  it('ends on SIGTERM and leaves the job running', async () => {
    const agent = await host.spawnAgent();
    const { pid } = await host.server.running(host.run(['sleep', '300']));
    expect(await agent.end('SIGTERM')).to.equal(0);
    expect(await isAlive(pid as number)).to.equal(true);
  });

  it('reports an exit of its absence, with the time it had', async () => {
    await host.startAgent();
    const key = host.sh(`echo started; ${waitUntil(enough())}; echo last words; exit 9`);
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    await host.closeAgent();
    await writeFile(enough(), '');
    await until(() => host.json(key, 'exit.json').catch(() => null), 'the end');
    const { finished_at } = await host.json(key, 'exit.json');
    await host.startAgent();
    expect(reported(key)).to.deep.include({ state: 'ended', exit: { kind: 'exited', code: 9 }, finished_at });
    await until(() => host.server.logs.isComplete(key), 'the log');
    expect(host.server.logs.lines(key)).to.deep.equal(['started', 'last words']);
  });

  it('kills the leftovers of a job that ended in its absence', async () => {
    await host.startAgent();
    const key = host.sh(`setsid sleep 300 & echo $!; ${waitUntil(enough())}`);
    await until(() => host.server.logs.lines(key).length === 1, 'the pid');
    const escaped = Number(host.server.logs.lines(key)[0]);
    await host.closeAgent();
    await writeFile(enough(), '');
    await until(async () => !(await isAlive(escaped)), 'the end of what it left');
  });

  it('forgets an attempt once its end and its log are with the server, and keeps the files', async () => {
    await host.startAgent();
    const key = host.sh('echo hello');
    await host.server.ended(key);
    await until(() => host.json(key, 'forgotten.json').catch(() => null), 'forgotten.json');
    await host.closeAgent();
    await host.startAgent();
    expect(hellos().at(-1)?.attempts).to.deep.equal([]);
    expect(await readFile(host.file(key, 'stdout'), 'utf8')).to.equal('hello\n');
  });

  it('reports an end in every hello until the server takes note', async () => {
    host.server.forgets = false;
    host.server.verdict = () => 'keep';
    await host.startAgent();
    const key = host.sh('exit 4');
    await host.server.ended(key);
    for (const verdict of ['keep', 'forget'] as const) {
      await host.closeAgent();
      host.server.verdict = () => verdict;
      await host.startAgent();
      expect(reported(key)).to.deep.include({ state: 'ended', exit: { kind: 'exited', code: 4 } });
    }
    await until(() => host.json(key, 'forgotten.json').catch(() => null), 'forgotten.json');
  });

  it('stops at its return what the server does not want any more', async () => {
    await host.startAgent();
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    await host.closeAgent();
    host.server.verdict = ({ state }) => (state === 'ended' ? 'forget' : 'stop');
    await host.startAgent();
    const ended = await host.server.ended(key);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
    expect(await isAlive(pid as number)).to.equal(false);
  });

  it("kills at its return what is nobody's", async () => {
    await host.startAgent();
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    await host.closeAgent();
    host.server.verdict = () => 'forget';
    await host.startAgent();
    await until(async () => !(await isAlive(pid as number)), 'its end');
    await until(() => host.json(key, 'forgotten.json').catch(() => null), 'forgotten.json');
  });

  it('lets a job go on whose shim was killed, and then says that its exit code is not known', async () => {
    await host.startAgent();
    const key = host.sh('echo one; sleep 1.5; echo two; exit 3');
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    const { pid } = await host.server.running(key);
    process.kill(await shimOf(key), 'SIGKILL');
    const ended = await host.server.ended(key);
    const reason = `its shim was killed, so nobody knows how process ${pid} ended`;
    expect(ended.exit).to.deep.equal({ kind: 'lost', reason });
    expect(host.server.logs.lines(key)).to.deep.equal(['one', 'two']);
  });

  it('stops a job whose shim was killed', async () => {
    await host.startAgent();
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    process.kill(await shimOf(key), 'SIGKILL');
    host.server.stop(key, 5000);
    const ended = await host.server.ended(key);
    expect(ended.exit?.kind).to.equal('lost');
    expect(await isAlive(pid as number)).to.equal(false);
  });

  it('reports lost when shim and process died in its absence', async () => {
    await host.startAgent();
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    const shim = await shimOf(key);
    await host.closeAgent();
    process.kill(shim, 'SIGKILL');
    process.kill(pid as number, 'SIGKILL');
    await host.startAgent();
    const ended = await host.server.ended(key);
    expect(ended.exit?.kind).to.equal('lost');
  });

  it('reports what ran before a reboot as lost', async () => {
    await host.startAgent();
    const key = host.run(['sleep', '300']);
    await host.server.running(key);
    await host.closeAgent();
    const state = await host.json(key, 'state.json');
    await writeFile(host.file(key, 'state.json'), JSON.stringify({ ...state, boot_id: 'an-earlier-boot' }));
    await host.startAgent();
    expect(reported(key)).to.deep.include({
      state: 'ended',
      exit: { kind: 'lost', reason: 'host rebooted' },
    });
  });

  it('kills processes of its own that nobody manages', async () => {
    await host.startAgent();
    const key = host.run(['sleep', '300']);
    const { pid } = await host.server.running(key);
    await host.closeAgent();
    await writeFile(host.file(key, 'forgotten.json'), '{}');
    await host.startAgent();
    expect(await isAlive(pid as number)).to.equal(false);
  });

  it('removes what was accepted and never started, and does not speak of it', async () => {
    await host.startAgent();
    const key = host.run(['true']);
    await host.server.ended(key);
    await host.closeAgent();
    const before = ['plan.json', 'spool', 'work'];
    const since = (await readdir(path.dirname(host.file(key, 'plan.json')))).filter(
      (name) => !before.includes(name),
    );
    for (const name of since) await rm(host.file(key, name));
    await host.startAgent();
    expect(hellos().at(-1)?.attempts).to.deep.equal([]);
    expect(await readdir(`${host.stateDir}/jobs`)).to.deep.equal([]);
  });

  it('takes a dispatch that is repeated for what it is', async () => {
    await host.startAgent();
    const key = host.sh('echo $$; sleep 300');
    host.server.dispatch({ ...key, plan: { command: ['sh', '-c', 'echo again'] } });
    await host.server.running(key);
    host.server.dispatch({ ...key, plan: { command: ['sh', '-c', 'echo again'] } });
    await until(() => host.server.all('attempt').length >= 2, 'the second report');
    host.server.stop(key, 1000);
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.have.length(1);
    const pids = new Set(host.server.all('attempt').map((frame) => frame.pid));
    expect(pids.size).to.equal(1);
  });

  it('runs the next attempt of a job beside the files of the one before', async () => {
    await host.startAgent();
    const first = host.sh('echo first');
    await host.server.ended(first);
    const second = { ...first, attempt: 2 };
    host.server.dispatch({ ...second, plan: { command: ['echo', 'second'] } });
    await host.server.ended(second);
    expect(await readFile(host.file(first, 'stdout'), 'utf8')).to.equal('first\n');
    expect(await readFile(host.file(second, 'stdout'), 'utf8')).to.equal('second\n');
  });

  it('leaves no idle shim behind when it is killed', async () => {
    const agent = await host.spawnAgent();
    const key = host.run(['true']);
    await host.server.ended(key);
    const shim = await shimOf(key);
    expect(await isAlive(shim)).to.equal(true);
    await agent.end('SIGKILL');
    await until(async () => !(await isAlive(shim)), 'the end of the shim');
  });
});
