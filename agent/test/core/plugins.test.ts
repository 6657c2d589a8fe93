import type { Exit } from '@svc/contract';
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  attemptEnded,
  attemptPrepare,
  attemptStarted,
  defineAgentPlugin,
  type AgentPluginContext,
  type EndedAttempt,
  type StartedAttempt,
} from '../../src/index.js';
import { runnerPlugin, ScriptedRunner, until } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const KEY = { job_id: 'job_1', attempt: 1 };
const OK: Exit = { kind: 'exited', code: 0 };

describe('agent: plugins', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const plugin = (setup: (ctx: AgentPluginContext) => void, name = 'extra') =>
    defineAgentPlugin({ name, setup })();
  const start = (...plugins: ReturnType<typeof plugin>[]) =>
    bench.connect({ plugins: [runnerPlugin(bench.runner), ...plugins] });
  const failure = (...plugins: ReturnType<typeof plugin>[]) =>
    start(...plugins).then(
      () => 'none',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it('stop the start of the agent with a sentence when they do not fit together', async () => {
    const needy = defineAgentPlugin({ name: 'needy', requires: ['absent'], setup: () => {} });
    expect(await failure(needy())).to.equal(
      'BootError: plugin "needy" requires "absent", which is not in svc.agent.config.ts; add absent() to plugins',
    );
    expect(await failure(runnerPlugin(new ScriptedRunner()))).to.include('is there twice');
    const rival = plugin((ctx) =>
      ctx.hooks.runners.tap(ctx.name, (runners) => runners.add(bench.runner as never)),
    );
    expect(await failure(rival)).to.include(
      'runner "process" of plugin "extra" is already added by "runner-process"',
    );
    const broken = plugin(() => {
      throw new Error('no driver');
    });
    expect(await failure(broken)).to.include('plugin "extra" failed in setup: Error: no driver');
  });

  it('stop the start of the agent with a sentence when they are of another version', async () => {
    const { optionsSchema: _, ...old } = plugin(() => {}, 'old');
    expect(await failure(old as never)).to.equal(
      'BootError: plugin "old" was made by another version of svc: make it with defineAgentPlugin of this one',
    );
    expect(await failure({} as never)).to.equal(
      'BootError: plugins[1] is no plugin: make it with defineAgentPlugin',
    );
    expect(await failure(defineAgentPlugin({ name: 'uncalled', setup: () => {} }) as never)).to.equal(
      'BootError: plugins[1] is a factory: call it, as in uncalled()',
    );
    const withoutReap = plugin((ctx) =>
      ctx.hooks.runners.tap(ctx.name, (runners) =>
        runners.add({ name: 'slurm', fingerprint() {}, start() {}, recover() {} } as never),
      ),
    );
    expect(await failure(withoutReap)).to.equal(
      'BootError: runner "slurm" has no reap(), which this version of svc needs: update its plugin',
    );
  });

  it('have their options checked and completed', async () => {
    let given: unknown;
    const withOptions = defineAgentPlugin({
      name: 'with-options',
      options: { type: 'object', properties: { everyS: { type: 'number', default: 5 } } } as never,
      setup: (_ctx, options) => void (given = options),
    });
    expect(await failure(withOptions({ everyS: 'often' } as never))).to.include('option everyS');
    await start(withOptions());
    expect(given).to.deep.equal({ everyS: 5 });
  });

  it('add to the environment of an attempt and note what they need at its end, also after a restart', async () => {
    const ended: EndedAttempt[] = [];
    const noting = () =>
      plugin((ctx) => {
        ctx.tap(attemptPrepare, ({ jobType, env }) => ({
          env: { EXTRA: `${jobType} ${env['OWN']}`, OWN: 'replaced' },
          notes: { extra: { seen: 1 } },
        }));
        ctx.tap(attemptEnded, (exit, attempt) => {
          ended.push(attempt);
          return exit;
        });
      });
    await start(noting());
    bench.server.dispatch({ ...KEY, plan: {}, env: { OWN: 'own' } });
    await bench.server.running(KEY);
    expect(bench.runner.environments[0]).to.include({ EXTRA: 'TRAIN own', OWN: 'replaced' });
    await bench.closeAgents();
    await start(noting());
    bench.server.stop(KEY, 10);
    await bench.server.ended(KEY);
    expect(ended.map(({ notes, wasStopped }) => ({ notes, wasStopped }))).to.deep.equal([
      { notes: { extra: { seen: 1 } }, wasStopped: true },
    ]);
    const plan = readFileSync(
      path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1', 'plan.json'),
      'utf8',
    );
    expect(plan).to.include('"seen": 1').and.not.include('TRAIN own');
  });

  it('refuse an attempt by throwing before its start', async () => {
    await start(
      plugin((ctx) =>
        ctx.tap(attemptPrepare, () => {
          throw new Error('the image is not there');
        }),
      ),
    );
    bench.server.dispatch({ ...KEY, plan: {} });
    const { exit } = await bench.server.ended(KEY);
    expect(exit).to.have.property('kind', 'dispatch_failed');
    expect(exit).to.have.property('message').that.includes('node-1').and.includes('the image is not there');
    expect(bench.runner.starts).to.equal(0);
  });

  it('find out what became of an attempt; one that fails to leaves the exit as it is', async () => {
    const judging = plugin((ctx) => {
      ctx.tap(attemptEnded, (exit, { job_id }): Exit => {
        if (job_id === 'job_2') throw new Error('no idea');
        return exit.kind === 'exited' ? { kind: 'oom', code: exit.code, evidence: 'seen' } : exit;
      });
    });
    await start(judging);
    bench.server.dispatch({ ...KEY, plan: { exit: { kind: 'exited', code: 1 } } });
    expect((await bench.server.ended(KEY)).exit).to.deep.equal({ kind: 'oom', code: 1, evidence: 'seen' });
    const second = { job_id: 'job_2', attempt: 1 };
    bench.server.dispatch({ ...second, plan: { exit: OK } });
    expect((await bench.server.ended(second)).exit).to.deep.equal(OK);
    expect(bench.logged.join('')).to.include('could not be looked into').and.include('no idea');
  });

  it('follow each attempt from its start to its end, and from the start of the next agent', async () => {
    const told: string[] = [];
    const following = () =>
      plugin((ctx) => {
        ctx.tap(attemptStarted, ({ job_id }: StartedAttempt) => told.push(`${job_id} runs`));
        ctx.hooks.collectors.tap(ctx.name, (collectors) => {
          collectors.add({
            name: 'follower',
            of: 'attempt',
            start: ({ paths }) => {
              told.push(`follows ${path.basename(paths.dir)}`);
              return { close: () => void told.push('closed') };
            },
          });
        });
      });
    await start(following());
    bench.server.dispatch({ ...KEY, plan: {} });
    await until(() => told.length === 2, 'the follower');
    await bench.closeAgents();
    expect(told.splice(0)).to.deep.equal(['job_1 runs', 'follows attempt-1', 'closed']);
    await start(following());
    bench.server.stop(KEY, 10);
    await bench.server.ended(KEY);
    expect(told).to.deep.equal(['job_1 runs', 'follows attempt-1', 'closed']);
  });

  it('measure the host; one that fails or hangs spoils nothing of the others', async () => {
    await start(
      plugin((ctx) =>
        ctx.hooks.collectors.tap(ctx.name, (collectors) => {
          collectors.add({ name: 'nice', of: 'host', measure: () => ({ 'process.nice': 7 }) });
          collectors.add({ name: 'stuck', of: 'host', measure: () => new Promise(() => {}) });
          collectors.add({
            name: 'broken',
            of: 'host',
            measure: () => Promise.reject(new Error('no sensor')),
          });
        }),
      ),
    );
    const { values } = await bench.server.frame('node_metrics');
    expect(values['process.nice']?.[0]).to.equal(7);
    expect(values).to.include.keys('ram.total_mb');
    const complaints = bench.logged.filter((line) => line.includes('no sensor'));
    expect(complaints).to.have.length(1);
  });

  it('are closed last in, first out', async () => {
    const closed: string[] = [];
    const closing = (name: string) => plugin((ctx) => ctx.onClose(() => void closed.push(name)), name);
    await start(closing('one'), closing('two'));
    await bench.closeAgents();
    expect(closed).to.deep.equal(['two', 'one']);
  });
});

describe('agent: runners', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  it('say later that they can run here no more, in a frame and in the next hello', async () => {
    await bench.connect();
    bench.runner.becomes({ available: false, reason: 'the engine has stopped' });
    const expected = {
      name: 'process',
      available: false,
      reason: 'the engine has stopped',
      version: '1.2.3',
    };
    expect((await bench.server.frame('runners')).runners).to.deep.equal([expected]);
    bench.server.cut();
    await until(() => bench.server.all('hello').length === 2, 'the next hello');
    expect(bench.server.all('hello')[1]?.runners).to.deep.equal([expected]);
  });

  for (const survivesReboot of [false, true]) {
    it(`${survivesReboot ? 'are' : 'are not'} asked for an attempt after a reboot of the host`, async () => {
      bench.runner.survivesReboot = survivesReboot;
      await bench.connect();
      bench.server.dispatch({ ...KEY, plan: {} });
      await bench.server.running(KEY);
      await bench.closeAgents();
      const state = path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1', 'state.json');
      await until(() => existsSync(state), 'the state');
      await bench.pretendReboot(KEY);
      await bench.connect();
      expect(bench.runner.recovered).to.have.length(survivesReboot ? 1 : 0);
      if (survivesReboot) bench.server.stop(KEY, 10);
      const { exit } = await bench.server.ended(KEY);
      expect(exit?.kind).to.equal(survivesReboot ? 'signaled' : 'lost');
    });
  }
});
