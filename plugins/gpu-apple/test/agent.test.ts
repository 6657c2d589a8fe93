import { createAgentLog, startAgent, type Agent } from '@svc/agent';
import { FakeServer, runnerPlugin, ScriptedRunner, TOKEN, until } from '@svc/agent/testing';
import { expect } from 'chai';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import gpuApple from '../src/agent.js';

const ANSWER = fileURLToPath(new URL('fixtures/apple-m3-max.plist', import.meta.url));

/** A real agent with a program that plays a recorded answer in place of ioreg. */
describe('gpu-apple: an agent', () => {
  let dir: string;
  let ioreg: string;
  let server: FakeServer;
  let agent: Agent | undefined;
  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-apple-'));
    ioreg = path.join(dir, 'ioreg');
    writeFileSync(ioreg, `#!/bin/sh\ntouch "${dir}/asked"\nexec cat "${ANSWER}"\n`);
    chmodSync(ioreg, 0o755);
    server = await FakeServer.listen();
  });
  afterEach(async () => {
    await agent?.close();
    await server.close();
    rmSync(dir, { recursive: true });
  });

  async function start(platform: string): Promise<void> {
    agent = await startAgent({
      url: server.url,
      token: TOKEN,
      stateDir: path.join(dir, 'state'),
      log: createAgentLog({ level: 'error' }),
      plugins: [runnerPlugin(new ScriptedRunner()), gpuApple({ ioreg, platform })],
    });
    await agent.ready;
  }
  const slots = () => server.all('hello')[0]?.slots ?? [];

  it('on a Mac offers its GPU and measures it', async () => {
    await start('darwin');
    expect(slots().map(({ model }) => model)).to.deep.equal(['Apple M3 Max']);
    const isMeasured = () =>
      server.all('node_metrics').some(({ values }) => values['gpu.0.util']?.includes(86));
    await until(isMeasured, { timeoutMs: 20_000, what: 'the figures' });
  }).timeout(30_000);

  it('on another system starts nothing', async () => {
    await start('linux');
    expect(slots()).to.deep.equal([]);
    expect(existsSync(path.join(dir, 'asked'))).to.equal(false);
  });
});
