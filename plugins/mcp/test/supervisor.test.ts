import { createTestKernel, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { createServer } from 'node:net';
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

  it('runs the adapter beside the server, and ends it with the server', async () => {
    const port = await freePort();
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
    await until(health, { timeoutMs: 30_000, everyMs: 50 });
    await kernel.close();
    expect(await health()).to.equal(false);
    expect(lines.some((line) => line.includes(`listens on http://127.0.0.1:${port}`))).to.equal(true);
  });
});

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
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
