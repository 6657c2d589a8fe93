import { until, type AgentProcess, type TestHost } from '@svc/agent/testing';
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost } from '../support/host.js';

const WARM_UP = 20;
const MANY = 100;
/** What a heap that is not collected yet may add. */
const GROWTH_MB = 40;

describeWithEngine('docker runner: one container after the other', (engine) => {
  let host: TestHost;
  let agent: AgentProcess;
  beforeEach(async () => {
    host = await createHost();
    agent = await host.spawnAgent();
  });
  afterEach(() => host.close());

  const runOne = async (code: number) => {
    const key = host.sh(`seq 1 1000; echo aside >&2; exit ${code}`);
    const { exit } = await host.server.ended(key);
    expect(exit).to.deep.equal({ kind: 'exited', code });
    expect(host.server.logs.lines(key)).to.have.length(1000);
  };
  const countFiles = () => readdirSync(`/proc/${agent.pid}/fd`).length;
  const memoryMb = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${agent.pid}/status`, 'utf8'))?.[1]) / 1024;

  it('leaves no container, no file, no descriptor and no memory behind', async function () {
    this.timeout(300_000);
    for (let job = 0; job < WARM_UP; job += 1) await runOne(job);
    const before = { files: countFiles(), memoryMb: memoryMb() };
    for (let job = WARM_UP; job < MANY; job += 1) await runOne(job);
    await until(() => countFiles() <= before.files, 'as few open files as before');
    expect(memoryMb()).to.be.below(before.memoryMb + GROWTH_MB);
    expect((await engine().containers()).length).to.equal(0);
    expect(readdirSync(path.join(engine().dir, 'data', 'containers'))).to.deep.equal([]);
  });
});
