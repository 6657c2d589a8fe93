import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { mkdir, readFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until, type Script } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const KEY: AttemptKey = { job_id: 'job_1', attempt: 1 };
const DONE: Script = { exit: { kind: 'exited', code: 0 } };

describe('agent: attempts', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const dispatch = (plan: Script, key = KEY) => bench.server.dispatch({ ...key, plan });
  const file = (name: string, key = KEY) =>
    path.join(bench.stateDir, 'jobs', key.job_id, `attempt-${key.attempt}`, name);
  const json = async (name: string) =>
    JSON.parse(await readFile(file(name), 'utf8')) as Record<string, unknown>;
  const has = (name: string, key = KEY) =>
    readFile(file(name, key)).then(
      () => true,
      () => false,
    );
  const lastHello = () => bench.server.all('hello').at(-1);

  it('has the plan on the disk before it says accepted', async () => {
    await bench.connect();
    dispatch({ hold: true });
    await bench.server.frame('accepted');
    expect(await json('plan.json')).to.deep.include({ ...KEY, runner: 'process', plan: { hold: true } });
    bench.runner.letStart();
  });

  it('has the state of the runner on the disk, with the boot and the version it belongs to', async () => {
    await bench.connect();
    dispatch({});
    await bench.server.running(KEY);
    const boot_id = lastHello()?.boot_id;
    expect(await json('state.json')).to.deep.equal({
      runner: 'process',
      state_version: 3,
      boot_id,
      state: {},
    });
  });

  it('reports a start that the runner refuses', async () => {
    await bench.connect();
    dispatch({ refuse: 'no such image' });
    const ended = await bench.server.ended(KEY);
    expect(ended.exit).to.deep.equal({ kind: 'dispatch_failed', message: 'no such image' });
    expect(await json('exit.json')).to.include({ kind: 'dispatch_failed', message: 'no such image' });
  });

  it('reports a dispatch for which there is no room on the disk', async () => {
    await bench.connect();
    await writeFile(path.join(bench.stateDir, 'jobs'), 'in the way');
    dispatch(DONE);
    const ended = await bench.server.ended(KEY);
    expect(ended.exit?.kind).to.equal('dispatch_failed');
    expect(bench.server.all('accepted')).to.deep.equal([]);
    expect(bench.runner.starts).to.equal(0);
    await rm(path.join(bench.stateDir, 'jobs'));
    await until(() => {
      dispatch({ hold: true });
      return bench.server.all('accepted').length > 0;
    }, 'the same attempt again, which nothing is left of');
    bench.runner.letStart();
  });

  it('starts an attempt once, however often it is dispatched', async () => {
    await bench.connect();
    dispatch({ hold: true });
    await bench.server.frame('accepted');
    dispatch({ hold: true });
    await until(() => bench.server.all('accepted').length === 2, 'the second accepted');
    bench.runner.letStart();
    await bench.server.running(KEY);
    dispatch({ hold: true });
    await until(() => bench.server.all('attempt').length === 2, 'the second report');
    expect(bench.runner.starts).to.equal(1);
  });

  it('begins a new life of an attempt that it stopped before the start, once it has let go of the one before', async () => {
    await bench.connect();
    Object.assign(bench.server, { starts: false, acknowledges: false });
    dispatch(DONE);
    await bench.server.frame('accepted');
    bench.server.stop(KEY, 0);
    await bench.server.frame('attempt', ({ exit }) => exit?.kind === 'lost');
    Object.assign(bench.server, { starts: true, acknowledges: true });
    dispatch(DONE);
    dispatch(DONE);
    bench.server.cut();
    await bench.server.frame('attempt', ({ exit }) => exit?.kind === 'exited');
    expect(bench.runner.starts).to.equal(1);
  });

  it('starts nothing before the server says so, and says in hello that it waits', async () => {
    await bench.connect();
    bench.server.starts = false;
    bench.server.verdict = () => 'forget';
    dispatch({});
    await bench.server.frame('accepted');
    bench.server.cut();
    await until(() => bench.server.welcomes === 2, 'the agent');
    const nothing = { pid: null, started_at: null, exit: null, finished_at: null };
    expect(lastHello()?.attempts).to.deep.equal([{ ...KEY, state: 'accepted', ...nothing }]);
    await until(() => has('forgotten.json'), 'the end of it');
    expect(bench.runner.starts).to.equal(0);
  });

  it('starts what it has accepted when the verdict on it is keep', async () => {
    await bench.connect();
    bench.server.starts = false;
    dispatch({});
    await bench.server.frame('accepted');
    bench.server.cut();
    await bench.server.running(KEY);
    expect(bench.runner.starts).to.equal(1);
  });

  it('never starts what is stopped before `start`, and reports it without a process', async () => {
    await bench.connect();
    bench.server.starts = false;
    dispatch({});
    await bench.server.frame('accepted');
    bench.server.stop(KEY, 1000);
    const ended = await bench.server.ended(KEY);
    expect(ended.exit?.kind).to.equal('lost');
    expect(ended.started_at).to.equal(null);
    bench.server.send({ type: 'start', ...KEY });
    await until(() => has('forgotten.json'), 'the end of it');
    expect(bench.runner.starts).to.equal(0);
  });

  it('carries out a stop that comes before the start is done', async () => {
    await bench.connect();
    dispatch({ hold: true });
    await until(() => bench.runner.starts === 1, 'the start');
    bench.server.stop(KEY, 1000);
    bench.server.stop({ job_id: 'job_other', attempt: 1 }, 0);
    await bench.server.frame('attempt', ({ job_id }) => job_id === 'job_other');
    bench.runner.letStart();
    const ended = await bench.server.ended(KEY);
    expect(ended.exit).to.deep.equal({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
  });

  it('counts an attempt in hello as running that is still starting', async () => {
    await bench.connect();
    dispatch({ hold: true });
    await bench.server.frame('accepted');
    bench.server.cut();
    await until(() => bench.server.welcomes === 2, 'the agent');
    const nothing = { pid: null, started_at: null, exit: null, finished_at: null };
    expect(lastHello()?.attempts).to.deep.equal([{ ...KEY, state: 'running', ...nothing }]);
    bench.runner.letStart();
    await until(
      () => bench.server.all('attempt').some(({ started_at }) => started_at !== null),
      'the report',
    );
  });

  it('reports after welcome what changed between hello and welcome', async () => {
    await bench.connect();
    dispatch({});
    await bench.server.running(KEY);
    bench.server.silent = true;
    const before = bench.server.all('hello').length;
    bench.server.cut();
    await until(() => bench.server.all('hello').length > before, 'the hello');
    bench.runner.endLast();
    await until(() => has('exit.json'), 'exit.json');
    bench.server.answerHello();
    const ended = await bench.server.ended(KEY);
    expect(ended.exit?.kind).to.equal('signaled');
  });

  it('asks the runner for a run that an earlier agent left', async () => {
    await bench.connect();
    dispatch({});
    await bench.server.running(KEY);
    await bench.closeAgents();
    await bench.connect();
    expect(bench.runner.recovered).to.deep.equal([{ version: 3, state: {} }]);
    expect(lastHello()?.attempts).to.deep.equal([
      { ...KEY, state: 'running', pid: null, started_at: 1000, exit: null, finished_at: null },
    ]);
    expect([...(bench.runner.reaped.at(-1) ?? [])]).to.deep.equal(['job_1/1']);
  });

  for (const [recovery, reason] of [
    ['gone', 'it is gone, and nobody knows how it ended'],
    ['broken', 'the engine does not answer'],
  ] as const) {
    it(`reports lost when the recovery says ${recovery}`, async () => {
      await bench.connect();
      dispatch({});
      await bench.server.running(KEY);
      await bench.closeAgents();
      bench.runner.recovery = recovery;
      await bench.connect();
      expect(lastHello()?.attempts[0]).to.deep.include({ state: 'ended', exit: { kind: 'lost', reason } });
      expect([...(bench.runner.reaped.at(-1) ?? [])]).to.deep.equal([]);
    });
  }

  it('reports lost when its runner is no longer part of the agent', async () => {
    await bench.connect();
    dispatch({});
    await bench.server.running(KEY);
    await bench.closeAgents();
    await bench.connect({ plugins: [] });
    const reason = 'runner process is no longer part of the agent';
    expect(lastHello()?.attempts[0]).to.deep.include({ state: 'ended', exit: { kind: 'lost', reason } });
  });

  it('leaves alone what is not its own in the directory of jobs', async () => {
    await mkdir(path.join(bench.stateDir, 'jobs', 'job_1', 'notes'), { recursive: true });
    await writeFile(path.join(bench.stateDir, 'jobs', 'README'), 'hello');
    await bench.connect();
    expect(lastHello()?.attempts).to.deep.equal([]);
    expect((await readdir(path.join(bench.stateDir, 'jobs'))).sort()).to.deep.equal(['README', 'job_1']);
  });

  it('starts afresh when an attempt that it has released is dispatched again', async () => {
    await bench.connect();
    dispatch(DONE);
    await bench.server.ended(KEY);
    await until(() => has('forgotten.json'), 'forgotten.json');
    dispatch(DONE);
    await until(() => bench.runner.starts === 2, 'the second start');
    await until(
      () => bench.server.all('attempt').filter(({ state }) => state === 'ended').length === 2,
      'its end',
    );
    const kept = (await readdir(path.join(bench.stateDir, 'jobs', 'job_1'))).sort();
    expect(kept).to.have.length(2);
    expect(kept[1]).to.match(/^attempt-1\.before-\d+$/);
  });

  it('manages an attempt until the disk takes the mark that it is released', async () => {
    await bench.connect();
    dispatch({});
    await bench.server.running(KEY);
    const inTheWay = file(`forgotten.json.${process.pid}.tmp`);
    await mkdir(inTheWay);
    bench.runner.endLast();
    const complaint = () => bench.logged.some((line) => line.includes('cannot mark the attempt as released'));
    await until(complaint, 'the complaint');
    await rmdir(inTheWay);
    await until(() => has('forgotten.json'), 'forgotten.json');
    bench.server.cut();
    await until(() => bench.server.welcomes === 2, 'the agent');
    expect(lastHello()?.attempts).to.deep.equal([]);
  });

  it('manages an attempt until its log is acknowledged', async () => {
    await bench.connect();
    bench.server.acknowledges = false;
    dispatch(DONE);
    await bench.server.frame('attempt', ({ state }) => state === 'ended');
    bench.server.cut();
    await until(() => bench.server.welcomes === 2, 'the agent');
    expect(lastHello()?.attempts).to.have.length(1);
    expect(await has('forgotten.json')).to.equal(false);
    bench.server.acknowledges = true;
    bench.server.cut();
    await until(() => has('forgotten.json'), 'forgotten.json');
  });
});
