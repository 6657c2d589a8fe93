import { until, type TestHost } from '@svc/agent/testing';
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import runnerDocker from '../../src/agent.js';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost, toPlan } from '../support/host.js';

const COUNT = 16;
/** An engine on two busy cores needs seconds for each container. */
const PATIENCE_MS = 300_000;

describeWithEngine('docker runner: containers at the same moment', (engine) => {
  let host: TestHost;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent();
  });
  afterEach(() => host.close());

  const relays = async () =>
    JSON.parse(await readFile(path.join(host.stateDir, 'runner-docker', 'relays.json'), 'utf8')) as {
      port: number;
    }[];

  it(`runs ${COUNT} jobs, each with its exit code, its log and the address of one relay`, async function () {
    this.timeout(PATIENCE_MS);
    const keys = Array.from({ length: COUNT }, (_, index) =>
      host.sh(`echo "$SVC_URL"; seq ${index} 500; echo aside${index} >&2; exit ${index}`),
    );
    await until(() => host.server.all('attempt').filter(({ state }) => state === 'ended').length === COUNT, {
      what: 'the end of them all',
      timeoutMs: PATIENCE_MS,
    });
    const ends = await Promise.all(keys.map((key) => host.server.ended(key)));
    expect(ends.map(({ exit }) => exit)).to.deep.equal(keys.map((_, code) => ({ kind: 'exited', code })));
    const logs = keys.map((key) => host.server.logs.lines(key));
    const urls = new Set(logs.map(([url]) => url));
    expect([...urls]).to.have.length(1);
    const saved = await relays();
    expect(saved).to.have.length(1);
    expect([...urls][0]).to.contain(`:${saved[0]?.port}/`);
    for (const [index, key] of keys.entries()) {
      const numbers = Array.from({ length: 501 - index }, (_, number) => `${index + number}`);
      expect(logs[index]?.slice(1)).to.deep.equal(numbers);
      // A busy engine may be waited for, which the log tells.
      const aside = host.server.logs.lines(key, 'stderr').filter((line) => !line.startsWith('[svc] '));
      expect(aside).to.deep.equal([`aside${index}`]);
    }
    expect((await engine().containers()).length).to.equal(0);
  });

  it('forgets the relay of a network that is gone', async () => {
    const name = 'svc-of-a-test';
    const network = await engine().client.createNetwork({ Name: name, Driver: 'bridge' });
    const { plugins: builtIn } = (await import('../../../../svc.agent.config.js')).default;
    const plugins = [
      ...builtIn.filter((plugin) => plugin.name !== 'runner-docker'),
      runnerDocker({ socket: engine().socket, allowedNetworks: [name] }),
    ];
    const key = { job_id: `job_${'0'.repeat(26)}`, attempt: 1 };
    await host.closeAgent();
    await host.startAgent({ plugins });
    host.server.dispatch({ ...key, runner: 'docker', plan: toPlan(['sh', '-c', 'exit 6']) });
    expect((await host.server.ended(key)).exit).to.deep.equal({ kind: 'exited', code: 6 });
    expect(await relays()).to.have.length(1);
    await host.closeAgent();
    await network.remove();
    await host.startAgent({ plugins });
    await until(async () => (await relays()).length === 0, 'the end of its relay');
  });
});
