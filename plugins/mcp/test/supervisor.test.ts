import { createTestKernel, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { mcp } from '../src/index.js';
import { Supervisor } from '../src/supervisor.js';

const END_AT_ONCE = ['-e', 'process.stderr.write("no port\\n"); process.exit(3)'];
const STAY = ['-e', 'process.send({ url: "http://here" }); process.once("disconnect", () => process.exit())'];

describe('the supervisor of the MCP adapter', function () {
  this.timeout(60_000);

  it('starts the program again when it was killed, and ends it when told to', async () => {
    const told: string[] = [];
    const supervisor = new Supervisor(STAY, {
      info: (text) => told.push(text),
      warn: (text) => told.push(text),
    });
    supervisor.start();
    await until(() => told.includes('listens on http://here'));
    const first = supervisor.pid!;
    process.kill(first, 'SIGKILL');
    await until(() => supervisor.pid !== undefined && supervisor.pid !== first);
    await until(() => told.filter((text) => text.startsWith('listens')).length === 2);
    expect(told[1]).to.match(/^the MCP adapter ended by SIGKILL; it is started again in \d+ s$/);
    const second = supervisor.pid!;
    await supervisor.stop();
    expect(isAlive(second)).to.equal(false);
  });

  it('says why the program does not start, and waits longer each time', async () => {
    const told: string[] = [];
    const supervisor = new Supervisor(END_AT_ONCE, {
      info: () => undefined,
      warn: (text) => told.push(text),
    });
    supervisor.start();
    await until(() => told.length === 3, { timeoutMs: 30_000 });
    await supervisor.stop();
    for (const text of told) expect(text).to.match(/^the MCP adapter ended with status 3: no port; /);
  });

  it('runs the adapter beside the server: a kill of it does not touch the server, and it comes back', async () => {
    const { kernel, health, port, lines } = await startBoth(await freePort());
    await until(health, PATIENCE);
    const [first] = childrenOf(process.pid);
    process.kill(first!, 'SIGKILL');
    await until(() => lines.some((line) => line.includes('the MCP adapter ended by SIGKILL')));
    expect((await kernel.request('GET', '/nothing', { token: 'read' })).status).to.equal(404);
    await until(health, PATIENCE);
    expect(childrenOf(process.pid)).to.have.length(1).and.not.include(first);
    await kernel.close();
    expect(await health()).to.equal(false);
    expect(childrenOf(process.pid)).to.deep.equal([]);
    expect(lines.some((line) => line.includes(`listens on http://127.0.0.1:${port}`))).to.equal(true);
  });

  it('says that the port is taken, while the server goes on, and listens once it is free', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const taken = (holder.address() as AddressInfo).port;
    const { kernel, health, lines } = await startBoth(taken);
    const says = `cannot listen on 127.0.0.1:${taken}: the port is taken; choose another one`;
    await until(() => lines.some((line) => line.includes(says)), PATIENCE);
    expect((await kernel.request('GET', '/nothing', { token: 'read' })).status).to.equal(404);
    await new Promise((resolve) => holder.close(resolve));
    await until(health, PATIENCE);
    await kernel.close();
  });
});

const PATIENCE = { timeoutMs: 30_000, everyMs: 50 };

/** A server, and an adapter that it supervises at that port. */
async function startBoth(port: number) {
  const lines: string[] = [];
  const kernel = await createTestKernel({
    plugins: [mcp({ port })],
    logLevel: 'info',
    writeLog: (line) => lines.push(line),
  });
  const health = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      (response) => response.ok,
      () => false,
    );
  return { kernel, health, port, lines };
}

/** Those that run the adapter. */
function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children
    .map(Number)
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('adapter/main'));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
