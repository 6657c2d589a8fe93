import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { LogLine, LogStream } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { expect } from 'chai';
import { shipper } from '../../plugins/logs/test/support/shipper.js';
import { Rig } from '../../plugins/runs/test/support/rig.js';

const SOURCE = fileURLToPath(new URL('./fixtures/svc.ts', import.meta.url));
const NODE_ARGS = ['--import=tsx', '--conditions=svc-source', SOURCE];
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

  describe('with a line that has no end yet', () => {
    const ERASE = '\r\u001b[K';
    let id: string;
    let agent: Awaited<ReturnType<typeof rig.agent>>;
    let ship: ReturnType<typeof shipper>;
    beforeEach(async () => {
      agent = await rig.agent();
      ({ id } = await rig.submit({ node_selector: { node: agent.nodeId } }));
      await agent.startJob(id);
      await rig.reach(id, 'RUNNING');
      ship = shipper(agent, id);
      await ship.lines('stdout', ['first']);
    });

    const follow = () => ['logs', id, '-f', '--url', rig.kernel.url, '--token', rig.tokens.read];
    const show = (text: string, stream: LogStream = 'stdout') =>
      agent.send({ type: 'partial', job_id: id, attempt: 1, stream, ts: Date.now(), text });
    async function endJob(): Promise<void> {
      await ship.end();
      agent.end(id, { kind: 'exited', code: 0 });
    }

    it('replaces it in place on a terminal, without wrapping, and writes the finished line once', async () => {
      const svc = startInTerminal(...follow());
      await until(() => svc.stdout().includes('first\r\n'));
      show(' 10%|\u001b[32m#\u001b[0m\u001b[A');
      await until(() => svc.stdout().endsWith(' 10%|#'));
      show(`20%|${'#'.repeat(80)}`);
      await until(() => svc.stdout().endsWith(`${ERASE}20%|${'#'.repeat(19)}`));
      await ship.lines('stderr', ['a warning']);
      await until(() => svc.stdout().endsWith(`${ERASE}a warning\r\n20%|${'#'.repeat(19)}`));
      await ship.lines('stdout', ['100%|done']);
      await endJob();
      expect(await svc.ended).to.equal(0);
      expect(svc.stdout().endsWith(`${ERASE}100%|done\r\n`), JSON.stringify(svc.stdout())).to.equal(true);
    });

    it('leaves an empty row when the connection of the agent is cut', async () => {
      const svc = startInTerminal(...follow());
      await until(() => svc.stdout().includes('first\r\n'));
      show('Password: ');
      await until(() => svc.stdout().endsWith('Password: '));
      agent.cut();
      await until(() => svc.stdout().endsWith(`Password: ${ERASE}`));
      await svc.stop();
    });

    it('is left in a row of its own by Ctrl-C, which ends the program as ever', async () => {
      const svc = startInTerminal(...follow());
      await until(() => svc.stdout().includes('first\r\n'));
      show('45%|####');
      await until(() => svc.stdout().endsWith('45%|####'));
      svc.type('\u0003');
      expect(await svc.ended).to.equal(130);
      expect(svc.stdout().endsWith('45%|####^C\r\n'), JSON.stringify(svc.stdout())).to.equal(true);
    });

    for (const more of [[], ['--json']])
      it(`does not write it into a pipe${more.map((word) => ` with ${word}`)}`, async () => {
        const svc = startSvc(...follow(), ...more);
        await until(() => svc.stdout().includes('first'));
        const other = await rig.kernel.sse(`/jobs/${id}/logs/stream`, { token: rig.tokens.read });
        show('half');
        await until(async () => (await other.take()).event === 'partial');
        await other.close();
        await ship.lines('stdout', ['half and whole']);
        await endJob();
        expect(await svc.ended).to.equal(0);
        const lines = svc.stdout().trimEnd().split('\n');
        const texts = more.length > 0 ? lines.map((text) => (JSON.parse(text) as LogLine).text) : lines;
        expect(texts).to.deep.equal(['first', 'half and whole']);
      });

    it('is the last line of the tail on a terminal', async () => {
      show('Continue? \u001b[1m');
      await until(async () => (await rig.get(`/jobs/${id}/logs`)).body.partial);
      const [, , , ...rest] = follow();
      const shown = startInTerminal('logs', id, ...rest);
      expect(await shown.ended).to.equal(0);
      expect(shown.stdout()).to.equal('first\r\nContinue? \r\n');
      const kept = startSvc('logs', id, '--tail', '5', ...rest);
      expect(await kept.ended).to.equal(0);
      expect(kept.stdout()).to.equal('first\n');
    });
  });
});

describe('svc logs of a long log', () => {
  const COUNT = 450;
  let rig: Rig;
  let id: string;
  before(async () => {
    rig = await Rig.start({ plugins: [logs()] });
    const agent = await rig.agent();
    ({ id } = await rig.submit());
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    const ship = shipper(agent, id);
    await ship.lines(
      'stdout',
      Array.from({ length: COUNT }, (_, at) => `line ${at}`),
    );
    await ship.end();
    agent.end(id, { kind: 'exited', code: 0 });
    await rig.reach(id, 'SUCCEEDED');
  });
  after(() => rig.close());

  const args = (...options: string[]) => [
    ...['logs', id, '--url', rig.kernel.url, '--token', rig.tokens.read],
    ...options,
  ];
  async function linesOf(...options: string[]): Promise<string[]> {
    const svc = startSvc(...args(...options));
    expect(await svc.ended, svc.stderr()).to.equal(0);
    return svc.stdout().trimEnd().split('\n');
  }
  const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z line /;

  for (const options of [[], ['-f'], ['--json'], ['-f', '--json']])
    it(`is whole in a pipe${options.map((word) => ` ${word}`).join('')}`, async () => {
      const lines = await linesOf(...options);
      expect(lines).to.have.length(COUNT);
      const first = lines[0] ?? '';
      if (!options.includes('--json')) return expect(first).to.equal('line 0');
      expect(JSON.parse(first)).to.include({ seq: 0, stream: 'stdout', text: 'line 0' });
    });

  it('is as long as was asked for, with the times and as JSON too', async () => {
    const tail = await linesOf('--tail', '2', '--timestamps');
    expect(tail).to.have.length(2);
    expect(tail[1])
      .to.match(TIME)
      .and.match(/line 449$/);
    const followed = await linesOf('-f', '--timestamps', '--tail', '3');
    expect(followed).to.have.length(3);
    expect(followed[0]).to.match(TIME);
    const head = await linesOf('--head', '2', '--json');
    expect(head.map((line) => (JSON.parse(line) as LogLine).text)).to.deep.equal(['line 0', 'line 1']);
    const found = await linesOf('--search', 'line 44', '--json');
    expect(found.map((line) => (JSON.parse(line) as LogLine).seq)).to.include.members([44, 440]);
  });

  it('has its last 200 lines on a terminal, with -f too', async () => {
    for (const options of [['--timestamps'], ['-f']]) {
      const svc = startInTerminal(...args(...options));
      expect(await svc.ended).to.equal(0);
      expect(svc.stdout().match(/line \d+/g)).to.have.length(200);
    }
  });

  it('refuses a number of lines that is none', async () => {
    for (const count of ['0', '-1']) {
      const svc = startSvc(...args(`--head=${count}`));
      expect(await svc.ended).to.equal(2);
      expect(svc.stderr()).to.contain('It must be at least 1.');
    }
  });
});

/** A terminal of 24 columns: `script` writes what it shows to stdout. */
function startInTerminal(...args: string[]) {
  const command = [process.execPath, ...NODE_ARGS, ...args].map((word) => `'${word}'`).join(' ');
  const program = spawn('script', ['-qfec', `stty cols 24; exec ${command}`, '/dev/null'], {
    timeout: LONGEST_MS,
    env: { ...process.env, TERM: 'xterm' },
  });
  return watchProgram(program);
}

function startSvc(...args: string[]) {
  return watchProgram(spawn(process.execPath, [...NODE_ARGS, ...args], { timeout: LONGEST_MS }));
}

function watchProgram(program: ChildProcessWithoutNullStreams) {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    program[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const ended = once(program, 'close').then(([status]) => status as unknown);
  const stop = async (): Promise<void> => {
    program.kill();
    await ended;
  };
  const type = (keys: string) => program.stdin.write(keys);
  return { ended, stop, type, stdout: () => written.stdout, stderr: () => written.stderr };
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
