import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createHost, type Host } from './support/host.js';
import { MemoryCgroup } from './support/memory-cgroup.js';

describe('process runner: out of memory', () => {
  let host: Host;
  let cgroup: MemoryCgroup;
  beforeEach(async function () {
    const made = MemoryCgroup.create(32);
    if (made === null) this.skip(); // It takes a memory controller that this user may write to.
    cgroup = made;
    host = await createHost();
    await host.startAgent();
  });
  afterEach(async () => {
    await host?.close();
    cgroup?.remove();
  });

  it("tells a process that the kernel's out-of-memory killer killed from one that was killed otherwise", async () => {
    const greedy = host.sh(cgroup.eat());
    expect((await host.server.ended(greedy)).exit).to.deep.equal({ kind: 'oom', code: -9 });
    const victim = host.sh(cgroup.script('kill -KILL $$'));
    const exit = { kind: 'signaled', signal: 'SIGKILL', code: -9 };
    expect((await host.server.ended(victim)).exit).to.deep.equal(exit);
  });

  it('knows it of one that was killed while no agent was there', async () => {
    const go = path.join(host.stateDir, 'go');
    const key = host.sh(`echo ready; while [ ! -e ${go} ]; do sleep 0.02; done; ${cgroup.eat()}`);
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    await host.closeAgent();
    await writeFile(go, '');
    await until(() => host.json(key, 'exit.json').catch(() => null), 'the end');
    await host.startAgent();
    expect((await host.server.ended(key)).exit).to.deep.equal({ kind: 'oom', code: -9 });
  });

  it('tells it of the child of a shell, which ends with 137 itself', async () => {
    const go = path.join(host.stateDir, 'go');
    const greedy = host.sh(`echo ready; ${cgroup.eatInChild(go)}`);
    await until(() => host.server.logs.lines(greedy).length === 1, 'the start');
    await delay(1500); // The shim knows a child from its next look on, each second.
    await writeFile(go, '');
    expect((await host.server.ended(greedy)).exit).to.deep.equal({ kind: 'oom', code: 137 });
    const victim = host.sh(`sh -c 'kill -KILL $$'; exit $?`);
    expect((await host.server.ended(victim)).exit).to.deep.equal({ kind: 'exited', code: 137 });
  });
});
