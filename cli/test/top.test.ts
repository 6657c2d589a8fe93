import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { routes, type Job, type NodeRecord } from '@svc/contract';
import { ApiError, createClient } from '@svc/client';
import { until } from '@svc/kernel/testing';
import { metrics } from '@svc/plugin-metrics';
import { service } from '@svc/plugin-service';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { toTroubleLines } from '../src/commands/top.js';
import { toFrame } from '../src/top/frame.js';
import { readActivity, type Activity } from '../src/top/read-activity.js';
import { SVC, ROOT, runHere } from './support/svc.js';

const plain = (_style: string, text: string): string => text;
/** Runs a program on a terminal of 80 by 24; after the second frame it presses the key, or sends the signal. */
const ON_A_TERMINAL = `import os, pty, sys, signal, struct, fcntl, termios
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[2], sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
before = termios.tcgetattr(fd)
shown = b''
while shown.count(b'\\x1b[H') < 2: shown += os.read(fd, 4096)
if sys.argv[1] == 'term': os.kill(pid, signal.SIGTERM)
else: os.write(fd, sys.argv[1].encode())
try:
  while True:
    piece = os.read(fd, 4096)
    if not piece: break
    shown += piece
except OSError: pass
sys.stdout.buffer.write(shown)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(status if status >= 0 else 100)`;

describe('svc top', () => {
  let rig: Rig;
  let home: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), 'svc-top-'));
    rig = await Rig.start({ plugins: [service(), metrics()] });
    env = { HOME: home, SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.read };
  });
  after(async () => {
    await rig.close();
    rmSync(home, { recursive: true });
  });

  it('prints one frame: nodes with their slots, running jobs with their step, and why others wait', async () => {
    expect((await runHere(['top', '--once'], env)).stdout)
      .to.contain('no nodes')
      .and.contain('no running jobs')
      .and.contain('no waiting jobs');
    const agent = await rig.agent();
    const { id } = await rig.submit({ name: 'now' });
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    await rig.submit({ name: 'later', resources: { gpu: 64 } });
    await until(async () => (await runHere(['top', '--once'], env)).stdout.includes('needs 64 GPUs'));
    const { stdout, status } = await runHere(['top', '--once'], env);
    expect(status).to.equal(0);
    expect(stdout).to.match(/^svc \S+ at http\S+ .*1 running, 1 queued$/m);
    expect(stdout).to.match(new RegExp(`^${id} +now +RUNNING`, 'm'));
    expect(stdout).to.match(/^job_\w+ +later +64 .*needs 64 GPUs/m);
    const shown = JSON.parse((await runHere(['top', '--json'], env)).stdout) as Activity;
    expect(shown.running.map(({ job }) => job.id)).to.deep.equal([id]);
    await agent.close();
  });

  it('needs a terminal, or --once', async () => {
    const { status, stderr } = await runHere(['top'], env);
    expect(status).to.equal(2);
    expect(stderr).to.contain('--once');
  });

  for (const [what, how] of [
    ['q', 'q'],
    ['Ctrl-C', '\u0003'],
    ['SIGTERM', 'term'],
  ] as const)
    it(`draws again until ${what}, and gives the terminal back`, async () => {
      const args = ['-c', ON_A_TERMINAL, how, process.execPath, SVC, 'top'];
      const terminal = { PATH: process.env['PATH'], TERM: 'xterm', ...env };
      const program = spawn('python3', args, {
        cwd: ROOT,
        env: terminal,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let shown = '';
      program.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
      const status = await new Promise((resolve) => program.once('close', resolve));
      expect(status, shown).to.equal(0);
      expect(shown)
        .to.match(/^\u001b\[\?1049h/)
        .and.match(/\u001b\[\?25h\u001b\[\?1049l$/);
    });
});

describe('svc top without its server', () => {
  it('says so in a line of its own', () => {
    const error = new ApiError({ code: 'network', message: 'no answer', url: 'http://svc' });
    expect(toTroubleLines(error)).to.deep.equal([
      'cannot reach http://svc: is the server running? start it with: svc up',
      'What follows is what the server said last.',
    ]);
  });
});

describe('a frame of svc top', () => {
  const node = (number: number, slots: number, busy = 0) =>
    ({
      id: `node_${number}`,
      name: `gpu-${number}`,
      status: 'ONLINE',
      cpu_jobs: 0,
      max_cpu_jobs: 8,
      slots: Array.from({ length: slots }, (_, index) => ({
        index,
        uuid: '',
        model: 'H100',
        memory_total_mb: 81_920,
        virtual: false,
        health: { state: 'ok', reason: null, since: null },
        busy: index < busy,
        job_id: null,
        utilization: index === 0 ? 97 : null,
        memory_used_mb: index === 0 ? 40_960 : null,
        temperature_c: index === 0 ? 61 : null,
      })),
    }) as unknown as NodeRecord;
  const job = (number: number, changes: object = {}) =>
    ({
      id: `job_${number}`,
      name: `job-${number}`,
      status: 'RUNNING',
      node_id: 'node_1',
      gpu_indices: [0],
      started_at: Date.now() - 60_000,
      queued_at: Date.now(),
      pending_reason: 'all GPUs are busy',
      resources: { gpu: 1, cpu_only: false },
      ...changes,
    }) as unknown as Job;
  const activity = (parts: object): Activity =>
    ({
      url: 'http://svc',
      version: '1',
      jobs: { RUNNING: 1, QUEUED: 2 } as Activity['jobs'],
      gpu_slots: { used: 1, free: 7 },
      cpu_jobs: { used: 0, free: 8 },
      nodes: [],
      running: [],
      waiting: [],
      ...parts,
    }) as Activity;
  it('shows what each GPU does, and how far each job is', () => {
    const run = {
      job_id: 'job_1',
      step: 50,
      max_steps: 100,
      stale_since: null,
      started_at: Date.now() - 60_000,
    };
    const frame = toFrame(activity({ nodes: [node(1, 2, 1)], running: [{ job: job(1), run }] }), 40, plain);
    const text = frame.join('\n');
    expect(text).to.match(/gpu-1 +ONLINE +0\/8 +0 +H100 +97 % +40\.0\/80\.0 GiB +61 °C/);
    expect(text).to.match(/gpu-1 +ONLINE +0\/8 +1 +H100 +- +- +-/);
    expect(text).to.match(/job_1 +job-1 +RUNNING +gpu-1 +0 +1m +50\/100 +1m/);
  });

  it('tells no time left of a run that is silent, that has done its last step, or of whose length nothing is known', () => {
    const run = { job_id: 'job_1', step: 50, max_steps: 100, stale_since: 1, started_at: 0 };
    const done = { ...run, stale_since: null, status: 'SUCCEEDED', step: 99 };
    for (const silent of [run, { ...run, stale_since: null, max_steps: null }, done, null])
      expect(toFrame(activity({ running: [{ job: job(1), run: silent }] }), 40, plain).join('\n')).to.match(
        /(50|50\/100|99\/100|-) +-$/m,
      );
  });

  for (const rows of [8, 12, 24, 50])
    it(`fits ${rows} rows, however much there is, and says what is left out`, () => {
      const many = Array.from({ length: 400 }, (_, index) => index);
      const frame = toFrame(
        activity({
          nodes: many.map((index) => node(index, 8)),
          running: many.map((index) => ({ job: job(index), run: null })),
          waiting: many.map((index) => job(index, { name: 'w'.repeat(300) })),
        }),
        rows,
        plain,
      );
      expect(frame.length).to.be.at.most(rows);
      const parts = frame.filter((line) => /^and \d+ more /.test(line));
      if (rows >= 24) expect(parts).to.have.length(3);
    });

  it('has every part of its title and the job of each GPU on a terminal of 60 columns', () => {
    const run = { job_id: 'job_1', step: 50_000, max_steps: 100_000, stale_since: null, started_at: 1 };
    const changes = { name: 'j'.repeat(99), status: 'DISPATCHING', gpu_indices: [0, 1, 2, 3, 4, 5, 6, 7] };
    const frame = toFrame(
      activity({
        url: `http://${'h'.repeat(80)}`,
        nodes: [node(1, 8, 8)],
        running: [{ job: job(1, changes), run }],
        waiting: [job(2, { name: 'w'.repeat(300) })],
      }),
      40,
      plain,
      60,
    );
    for (const line of frame) expect(line.length, line).to.be.at.most(60);
    const text = frame.join('\n');
    for (const part of ['GPU slots 1/8', 'CPU jobs 0/8', '1 running, 2 queued'])
      expect(text).to.contain(part);
    expect(text)
      .to.match(/^NODE .*UTIL +MEMORY +JOB$/m)
      .and.match(/50000\/100000 +\S+/);
  });

  it('asks the server for each list once', async () => {
    const rig = await Rig.start({ plugins: [service(), metrics()] });
    const asked: string[] = [];
    const client = createClient(
      { url: rig.kernel.url, token: rig.tokens.read },
      { fetch: (address, init) => (asked.push(String(address)), fetch(address, init)) },
    );
    await readActivity(client);
    expect(asked.length).to.equal(new Set(asked).size);
    expect(asked.some((address) => address.includes(routes.listNodes.path))).to.equal(true);
    await rig.close();
  });
});
