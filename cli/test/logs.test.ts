import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { until } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { expect } from 'chai';
import { shipper } from '../../plugins/logs/test/support/shipper.js';
import { Rig } from '../../plugins/runs/test/support/rig.js';

const SOURCE = fileURLToPath(new URL('./fixtures/svc.ts', import.meta.url));
/** Ends the program of a test that failed. */
const LONGEST_MS = 25_000;

describe('svc logs -f', () => {
  let rig: Rig;
  let line: Line;
  before(async () => {
    rig = await Rig.start({ plugins: [logs()] });
    line = await Line.to(rig.kernel.url);
  });
  after(async () => {
    await line.close();
    await rig.close();
  });

  it('stays with its attempt when the connection is made again behind a retry', async () => {
    const agent = await rig.agent();
    const { id } = await rig.submit();
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    const first = shipper(agent, id);
    await first.lines('stdout', ['1: one', '1: two']);
    const svc = startSvc('logs', id, '-f', '--url', line.url, '--token', rig.tokens.read);
    await until(() => svc.stdout() === '1: one\n1: two\n');

    line.cut();
    await first.lines('stdout', ['1: three']);
    await first.end();
    agent.end(id, { kind: 'exited', code: 1 });
    await rig.reach(id, 'FAILED');
    expect((await rig.post(`/jobs/${id}/retry`)).status).to.equal(200);
    await agent.startJob(id, 2);
    await shipper(agent, id, 2).lines('stdout', ['2: one', '2: two', '2: three']);
    line.mend();

    expect(await svc.ended).to.equal(0);
    expect(svc.stdout()).to.equal('1: one\n1: two\n1: three\n');
    expect(svc.stderr()).to.match(/^the log stream was lost .*; reconnecting\n$/);
  });
});

function startSvc(...args: string[]) {
  const nodeArgs = ['--import=tsx', '--conditions=svc-source', SOURCE];
  const program = spawn(process.execPath, [...nodeArgs, ...args], { timeout: LONGEST_MS });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    program[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const ended = once(program, 'close').then(([status]) => status as unknown);
  return { ended, stdout: () => written.stdout, stderr: () => written.stderr };
}

/** What lies between a client and the server, and can be cut. */
class Line {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  private readonly server = createServer((client) => this.join(client));

  private constructor(private readonly port: number) {}

  static async to(url: string): Promise<Line> {
    const line = new Line(Number(new URL(url).port));
    await once(line.server.listen(0, '127.0.0.1'), 'listening');
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    const server = connect(this.port, '127.0.0.1');
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => this.sockets.delete(socket));
    }
    if (this.isCut) return this.cut();
    client.pipe(server).pipe(client);
  }
}
