import { until, type TestHost } from '@svc/agent/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost } from '../support/host.js';
import { LossySocket } from '../support/lossy-socket.js';

describeWithEngine('docker runner: an engine whose answers are lost', (engine) => {
  let host: TestHost;
  let socket: LossySocket | null = null;
  beforeEach(async () => {
    host = await createHost();
  });
  afterEach(async () => {
    socket?.remove();
    socket = null;
    await host.close();
  });

  const containersOf = () => engine().containers();

  it('runs a job once whose start or creation got no answer', async () => {
    await host.startAgent();
    socket = await LossySocket.before(engine().socket);
    for (const request of [/^POST .*\/start/, /^POST .*\/containers\/create/, /^GET .*\/info/]) {
      socket.loseAnswerTo(request);
      const key = host.sh('echo one; exit 7');
      expect((await host.server.ended(key)).exit, String(request)).to.deep.equal({ kind: 'exited', code: 7 });
      expect(socket.hasLost).to.equal(true);
      expect(host.server.logs.lines(key)).to.deep.equal(['one']);
      await until(async () => (await containersOf()).length === 0, 'the removal');
    }
  });

  it('runs a job that was dispatched while the engine was away, and says what it waits for', async () => {
    await host.startAgent();
    await engine().kill();
    const key = host.sh('exit 3');
    await until(() => host.server.logs.lines(key, 'stderr').length > 0, 'the line');
    expect(host.server.logs.lines(key, 'stderr')[0]).to.contain('[svc] waiting for the container engine');
    await engine().start();
    expect((await host.server.ended(key)).exit).to.deep.equal({ kind: 'exited', code: 3 });
  });

  it('stops at once a job that an engine which hangs has not started', async () => {
    await host.startAgent();
    const pid = Number(readFileSync(path.join(engine().dir, 'pid'), 'utf8'));
    process.kill(pid, 'SIGSTOP');
    try {
      const key = host.sh('exit 3');
      await until(() => host.server.logs.lines(key, 'stderr').length > 0, 'the line');
      expect(host.server.logs.lines(key, 'stderr')[0]).to.contain('does not answer in time');
      host.server.stop(key, 0);
      expect((await host.server.ended(key)).exit?.kind).to.equal('lost');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await containersOf()).length === 0, 'no container');
  });
});
