import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { LogLine, LogStream } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { expect } from 'chai';
import { shipper } from '../../plugins/logs/test/support/shipper.js';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { SVC } from './support/svc.js';
import { LONGEST_MS, startOnTerminal, watchProgram } from './support/terminal.js';

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
    const { id, agent, ship: first } = await startJob(rig);
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
    let agent: StartedJob['agent'];
    let ship: StartedJob['ship'];
    beforeEach(async () => {
      ({ id, agent, ship } = await startJob(rig));
      await ship.lines('stdout', ['first']);
    });

    const follow = () => logsArgs(rig, id, '-f');
    const show = (text: string, stream: LogStream = 'stdout') =>
      agent.send({ type: 'partial', job_id: id, attempt: 1, stream, ts: Date.now(), text });
    const end = () => endJob({ id, agent, ship });

    it('replaces it in place on a terminal, without wrapping, and writes the finished line once', async () => {
      const svc = startInTerminal(...follow());
      await until(() => svc.stdout().includes('first\r\n'));
      show(' 10%|\u001b[32m#\u001b[0m\u001b[A');
      await until(() => svc.stdout().endsWith(' 10%|#'));
      show(`20%|${'#'.repeat(80)}`);
      await until(() => svc.stdout().endsWith(`${ERASE}20%|${'#'.repeat(18)}…`));
      await ship.lines('stderr', ['a warning']);
      await until(() => svc.stdout().endsWith(`${ERASE}a warning\r\n20%|${'#'.repeat(18)}…`));
      await ship.lines('stdout', ['100%|done']);
      await end();
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
        await end();
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
    const lines = Array.from({ length: COUNT }, (_, at) => `line ${at}`);
    id = await runJob(rig, (ship) => ship.lines('stdout', lines, { ts: Date.now() }));
  });
  after(() => rig.close());

  const args = (...options: string[]) => logsArgs(rig, id, ...options);
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

  it('has the lines written within --since, and no others', async () => {
    expect(await linesOf('--since', '1h')).to.have.length(COUNT);
    await delay(1100);
    const svc = startSvc(...args('--since', '1s'));
    expect(await svc.ended).to.equal(0);
    expect(svc.stdout()).to.equal('');
  });

  it('refuses a number of lines that is none', async () => {
    for (const count of ['0', '-1']) {
      const svc = startSvc(...args(`--head=${count}`));
      expect(await svc.ended).to.equal(2);
      expect(svc.stderr()).to.contain('It must be at least 1.');
    }
  });
});

describe('svc logs of a job that has no lines', () => {
  const MESSAGE = 'train was not found on the node';
  let rig: Rig;
  before(async () => (rig = await Rig.start({ plugins: [logs()] })));
  after(() => rig.close());

  const svcLogs = (id: string, ...options: string[]) => logsArgs(rig, id, ...options);

  async function failToStart(): Promise<string> {
    const agent = await rig.agent();
    const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
    const dispatch = await agent.dispatchOf(id);
    agent.accept(dispatch);
    agent.ended(dispatch, { kind: 'dispatch_failed', message: MESSAGE }, { finished_at: Date.now() });
    await rig.reach(id, 'FAILED');
    return id;
  }

  it('says on stderr why, and nothing on stdout, with every way to read it', async () => {
    const id = await failToStart();
    for (const options of [[], ['-f'], ['--tail', '5'], ['--json'], ['--head', '3']]) {
      const svc = startSvc(...svcLogs(id, ...options));
      expect(await svc.ended, svc.stderr()).to.equal(0);
      expect(svc.stdout()).to.equal('');
      expect(svc.stderr(), options.join()).to.match(/^no lines: the job is FAILED \(.+\)\n$/);
      expect(svc.stderr()).to.contain(MESSAGE);
    }
    const shown = startInTerminal(...svcLogs(id));
    expect(await shown.ended).to.equal(0);
    expect(shown.stdout()).to.contain(MESSAGE);
  });

  it('says that it was cancelled before it started, or what it waits for', async () => {
    const { id } = await rig.submit({ node_selector: { node: 'none' } });
    await until(async () => (await rig.job(id)).pending_reason?.includes('none'));
    const waiting = startSvc(...svcLogs(id));
    expect(await waiting.ended).to.equal(0);
    expect(waiting.stderr()).to.match(/^no lines yet: the job is QUEUED \(.+none.*\)\n$/);
    await rig.post(`/jobs/${id}/cancel`);
    for (const options of [[], ['-f']]) {
      const svc = startSvc(...svcLogs(id, ...options));
      expect(await svc.ended).to.equal(0);
      expect(svc.stderr()).to.equal('no lines: the job is CANCELLED (before it started)\n');
    }
  });

  it('says how the attempt ended that was asked for, and nothing of what the filters leave out', async () => {
    const id = await failToStart();
    expect((await rig.post(`/jobs/${id}/retry`)).status).to.equal(200);
    const first = startSvc(...svcLogs(id, '--attempt', '1'));
    expect(await first.ended).to.equal(0);
    expect(first.stderr()).to.match(/^no lines: attempt 1 is FAILED \(.+\)\n$/);
    const filtered = startSvc(...svcLogs(id, '--attempt', '1', '--stream', 'stderr'));
    expect(await filtered.ended).to.equal(0);
    expect(filtered.stderr()).to.equal('');
  });
});

describe('svc logs of lines with direction marks', () => {
  const MARKS = '\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
  const TEXT = `loss ${MARKS}0.31 \u05d0\u05d1`;
  let rig: Rig;
  let id: string;
  before(async () => {
    rig = await Rig.start({ plugins: [logs()] });
    id = await runJob(rig, async (ship) => {
      for (const stream of ['stdout', 'stderr'] as const) await ship.lines(stream, [TEXT]);
    });
  });
  after(() => rig.close());

  for (const options of [[], ['-f'], ['--all'], ['--json']]) {
    const args = () => logsArgs(rig, id, ...options);

    it(`leaves them out on a terminal${options.map((word) => ` ${word}`).join('')}`, async () => {
      const svc = startInTerminal(...args());
      expect(await svc.ended).to.equal(0);
      expect(svc.stdout()).not.to.match(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
      expect(svc.stdout().split('loss 0.31 \u05d0\u05d1')).to.have.length(3);
    });

    it(`keeps every byte in a pipe${options.map((word) => ` ${word}`).join('')}`, async () => {
      const svc = startSvc(...args());
      expect(await svc.ended).to.equal(0);
      expect((svc.stdout() + svc.stderr()).split(TEXT)).to.have.length(3);
    });
  }
});

const logsArgs = (rig: Rig, id: string, ...options: readonly string[]) => [
  'logs',
  id,
  ...options,
  '--url',
  rig.kernel.url,
  '--token',
  rig.tokens.read,
];
const startInTerminal = (...args: string[]) => startOnTerminal(24, args);
const startSvc = (...args: string[]) =>
  watchProgram(spawn(process.execPath, [SVC, ...args], { timeout: LONGEST_MS }));

type StartedJob = Awaited<ReturnType<typeof startJob>>;

/** A job that runs on an agent of its own, and what ships its lines. */
async function startJob(rig: Rig) {
  const agent = await rig.agent();
  const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
  await agent.startJob(id);
  await rig.reach(id, 'RUNNING');
  return { id, agent, ship: shipper(agent, id) };
}

async function endJob({ id, agent, ship }: StartedJob): Promise<void> {
  await ship.end();
  agent.end(id, { kind: 'exited', code: 0 });
}

/** A job that has ended, with the lines that `print` ships. */
async function runJob(rig: Rig, print: (ship: StartedJob['ship']) => Promise<unknown>): Promise<string> {
  const job = await startJob(rig);
  await print(job.ship);
  await endJob(job);
  await rig.reach(job.id, 'SUCCEEDED');
  return job.id;
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
