import { until, type TestHost } from '@svc/agent/testing';
import { expect } from 'chai';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost } from '../support/host.js';

const RESTARTED = 'the container engine was stopped or restarted, which ends its containers';
const COUNT = 'i=0; until [ -e go ]; do i=$((i+1)); echo $i; sleep 0.01; done; echo $i > last; exit 7';

type Key = ReturnType<TestHost['sh']>;

describeWithEngine('docker runner: an engine that comes and goes', (engine) => {
  let host: TestHost;
  beforeEach(async () => {
    host = await createHost();
  });
  afterEach(async () => {
    await host.close();
  });

  const untilRuns = (key: Key) => until(() => host.server.logs.lines(key).length > 5, 'output');
  const exitOf = async (key: Key) => (await host.server.ended(key)).exit;
  const probeOf = () =>
    [...host.server.all('hello'), ...host.server.all('runners')]
      .at(-1)
      ?.runners.find(({ name }) => name === 'docker');

  it('tells a job that ended with the engine as lost, and runs the next', async () => {
    await host.startAgent();
    for (const end of ['stop', 'kill'] as const) {
      const key = host.sh(COUNT);
      await untilRuns(key);
      await engine()[end]();
      await engine().start();
      expect(await exitOf(key), end).to.deep.equal({ kind: 'lost', reason: RESTARTED });
    }
    expect(await exitOf(host.sh('exit 4'))).to.deep.equal({ kind: 'exited', code: 4 });
    expect((await engine().containers()).length).to.equal(0);
  });

  it('tells it so when the agent was away, too', async () => {
    await host.startAgent();
    const key = host.sh(COUNT);
    await untilRuns(key);
    await host.closeAgent();
    await engine().kill();
    await engine().start();
    await host.startAgent();
    expect(await exitOf(key)).to.deep.equal({ kind: 'lost', reason: RESTARTED });
  });

  it('waits for an engine that is away when the agent starts, and has the end of before', async () => {
    await host.startAgent();
    const key = host.sh(`${COUNT.replace('exit 7', 'exit 0')}`);
    await untilRuns(key);
    await host.closeAgent();
    writeFileSync(host.file(key, 'work/go'), '');
    await until(async () => (await engine().containers())[0]?.State === 'exited', 'its end');
    await engine().stop();
    await host.startAgent();
    const { attempts } = host.server.all('hello').at(-1)!;
    expect(attempts[0]?.state).to.not.equal('ended');
    expect(probeOf()).to.include({ available: false });
    await engine().start();
    expect(await exitOf(key)).to.deep.equal({ kind: 'exited', code: 0 });
    expect((await engine().containers()).length).to.equal(0);
  });

  it('finds an engine that is started later, and removes then what nobody manages', async () => {
    await host.startAgent();
    const stray = host.sh(COUNT);
    await untilRuns(stray);
    await host.closeAgent();
    rmSync(path.join(host.stateDir, 'jobs', stray.job_id), { recursive: true });
    await engine().stop();
    await host.startAgent();
    expect(probeOf()?.reason).to.match(/^no container engine answers at .*sock/);
    await engine().start();
    await until(() => probeOf()?.available, 'the engine');
    expect(probeOf()?.version).to.match(/^\d+\./);
    expect((await engine().containers()).length).to.equal(0);
    expect(await exitOf(host.sh('exit 5'))).to.deep.equal({ kind: 'exited', code: 5 });
  });

  it('leaves alone what is not of this node', async () => {
    const foreign = await engine().client.createContainer({ Image: 'svc-test:1', Cmd: ['sleep', '100'] });
    const other = await engine().client.createContainer({
      Image: 'svc-test:1',
      Cmd: ['sleep', '100'],
      Labels: { 'svc.node_id': 'node_other', 'svc.job_id': 'job_1', 'svc.attempt': '1' },
    });
    await host.startAgent();
    await host.closeAgent();
    await host.startAgent();
    expect((await engine().containers()).map(({ Id }) => Id)).to.have.members([foreign.id, other.id]);
    for (const container of [foreign, other]) await container.remove({ force: true });
  });
});

describeWithEngine(
  'docker runner: an engine with live-restore',
  (engine) => {
    it('lets a job go on, with its whole log', async () => {
      const host = await createHost();
      try {
        await host.startAgent();
        const key = host.sh(COUNT);
        for (const end of ['stop', 'kill'] as const) {
          const { length } = host.server.logs.lines(key);
          await until(() => host.server.logs.lines(key).length > length + 20, 'output');
          await engine()[end]();
          await engine().start();
        }
        const { length } = host.server.logs.lines(key);
        await until(() => host.server.logs.lines(key).length > length + 20, 'output after all');
        writeFileSync(host.file(key, 'work/go'), '');
        expect((await host.server.ended(key)).exit).to.deep.equal({ kind: 'exited', code: 7 });
        const lines = host.server.logs.lines(key).map(Number);
        expect(lines).to.deep.equal(lines.map((_, index) => index + 1));
        expect(await until(() => lines.at(-1))).to.equal(lines.length);
      } finally {
        await host.close();
      }
    });
  },
  { liveRestore: true },
);
