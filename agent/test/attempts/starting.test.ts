import {
  attemptPrepare,
  attemptStarting,
  defineAgentPlugin,
  DispatchFailed,
  type StartingAttempt,
} from '../../src/index.js';
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runnerPlugin, until } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const KEY = { job_id: 'job_1', attempt: 1 };
const SNAPSHOT = 'a'.repeat(64);

describe('agent: what a plugin brings before an attempt is started', () => {
  let bench: Bench;
  /** Attempts whose tap waits. */
  let waiting: { attempt: StartingAttempt; go(): void; fail(error: Error): void }[];
  beforeEach(async () => {
    waiting = [];
    bench = await Bench.create();
    await connect();
  });
  afterEach(() => bench.close());

  const bringer = defineAgentPlugin({
    name: 'bringer',
    setup: (ctx) =>
      ctx.tap(attemptStarting, (attempt) => {
        const { promise, resolve, reject } = withResolvers();
        attempt.signal.addEventListener('abort', () => reject(new Error('it was interrupted')));
        waiting.push({ attempt, go: resolve, fail: reject });
        return promise;
      }),
  });
  const connect = () => bench.connect({ plugins: [runnerPlugin(bench.runner), bringer()] });
  const dispatch = () => bench.server.dispatch({ ...KEY, plan: {}, snapshot: SNAPSHOT });
  const untilWaiting = async () => {
    await until(() => waiting.length > 0, 'the tap');
    return waiting.shift()!;
  };
  const dir = () => path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1');

  it('is there when its runner starts, and not before', async () => {
    dispatch();
    const { attempt, go } = await untilWaiting();
    expect(attempt).to.deep.include({ ...KEY, snapshot: SNAPSHOT, user: null });
    expect(existsSync(attempt.workingDir)).to.equal(true);
    expect(bench.runner.starts).to.equal(0);
    go();
    await bench.server.running(KEY);
  });

  it('keeps it from being started when it cannot be brought, and the user reads why', async () => {
    dispatch();
    (await untilWaiting()).fail(new DispatchFailed('there is no such snapshot'));
    const { exit } = await bench.server.ended(KEY);
    const message = 'it cannot be started on node-1: there is no such snapshot';
    expect(exit).to.deep.equal({ kind: 'dispatch_failed', message });
    expect(bench.runner.starts).to.equal(0);
  });

  it('is given up when the attempt is stopped meanwhile, and nothing is started', async () => {
    dispatch();
    await untilWaiting();
    bench.server.stop(KEY, 1000);
    const { exit } = await bench.server.ended(KEY);
    expect(exit).to.deep.equal({ kind: 'lost', reason: 'it was stopped on node-1 before it was started' });
    expect(bench.runner.starts).to.equal(0);
  });

  it('is begun anew by an agent that was restarted meanwhile: the attempt is cleared away and sent again', async () => {
    dispatch();
    const { attempt } = await untilWaiting();
    await writeFile(path.join(attempt.workingDir, 'train.py'), 'half');
    await mkdir(`${attempt.workingDir}.partial`);
    await writeFile(path.join(`${attempt.workingDir}.partial`, 'train.py'), 'half');
    await bench.closeAgents();
    await connect();
    expect(bench.server.all('hello').at(-1)?.attempts).to.deep.equal([]);
    expect(existsSync(dir())).to.equal(false);
    dispatch();
    (await untilWaiting()).go();
    await bench.server.running(KEY);
  });
});

describe('agent: an attempt that is refused', () => {
  it('ends so, whatever an earlier life of it has left', async () => {
    const bench = await Bench.create();
    try {
      const left = path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1');
      await mkdir(left, { recursive: true });
      await writeFile(
        path.join(left, 'exit.json'),
        JSON.stringify({ kind: 'exited', code: 0, finished_at: 5 }),
      );
      await writeFile(path.join(left, 'forgotten.json'), '{}');
      const refuser = defineAgentPlugin({
        name: 'refuser',
        setup: (ctx) =>
          ctx.tap(attemptPrepare, () => {
            throw new DispatchFailed('not here');
          }),
      });
      await bench.connect({ plugins: [runnerPlugin(bench.runner), refuser()] });
      bench.server.dispatch({ ...KEY, plan: {} });
      const { exit } = await bench.server.ended(KEY);
      expect(exit).to.deep.equal({
        kind: 'dispatch_failed',
        message: 'it cannot be prepared on node-1: not here',
      });
    } finally {
      await bench.close();
    }
  });
});

function withResolvers() {
  let resolve = (): void => undefined;
  let reject = (_error: Error): void => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
