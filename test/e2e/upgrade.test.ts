import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isTerminal, routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { installAgent } from '../support/agent-build.js';
import { requireEngine } from '../support/engines.js';
import { findMarked } from '../support/processes.js';
import { ROOT, startProgram, type Program } from '../support/program.js';
import {
  createWorkplace,
  submit,
  untilJob,
  untilPrinted,
  type Server,
  type Workplace,
} from '../support/workplace.js';

const SCRIPT = path.join(ROOT, 'test', 'fixtures', 'torch-until.py');
const PATIENCE_MS = 120_000;
/** Of what comes from one version of the agent alone. */
const ENOUGH_LINES = 50;

const CASES: readonly { name: string; signal: NodeJS.Signals; server: 'stays' | NodeJS.Signals }[] = [
  { name: 'in order', signal: 'SIGTERM', server: 'stays' },
  { name: 'by kill -9', signal: 'SIGKILL', server: 'stays' },
  { name: 'while the server is restarted too', signal: 'SIGTERM', server: 'SIGTERM' },
  { name: 'while the server is killed too', signal: 'SIGKILL', server: 'SIGKILL' },
];

describe('an agent upgraded under a running PyTorch job', function () {
  this.timeout(4 * PATIENCE_MS);
  let workplace: Workplace;
  let server: Server;
  let python: string;
  before(function () {
    python = requireEngine(this, 'torch');
  });
  beforeEach(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
  });
  afterEach(() => workplace.close());

  const at = (...names: string[]) => path.join(workplace.dir, ...names);

  /** The agent of that release on the one state directory. */
  async function startAgent(program: string): Promise<Program> {
    const token = readFileSync(at('agent.token'), 'utf8');
    const env = { PATH: process.env['PATH'], HOME: workplace.dir, SVC_URL: server.url, SVC_TOKEN: token };
    const args = [program, 'agent', '--state-dir', at('agent')];
    const agent = startProgram(process.execPath, args, env);
    await untilPrinted(agent, /(connected)/, 'stderr', PATIENCE_MS);
    return agent;
  }

  async function restartServer(signal: NodeJS.Signals): Promise<void> {
    server.kill(signal);
    await server.ended;
    server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
  }

  async function readLog({ id }: Job): Promise<string[]> {
    const input = { params: { job_id: id }, query: { stream: 'stdout' } } as const;
    const text = await (await server.client.open(routes.downloadLogs, input)).text();
    return text === '' ? [] : text.trimEnd().split('\n');
  }

  const untilLines = (job: Job, count: number) =>
    until(async () => (await readLog(job)).length >= count, { timeoutMs: PATIENCE_MS, everyMs: 100 });

  async function node(): Promise<{ version: string; status: string }> {
    const { items } = await server.client.call(routes.listNodes);
    expect(items).to.have.length(1);
    return items[0]!;
  }

  for (const { name, signal, server: serverFate } of CASES) {
    it(`${name}: the job notices nothing, and nothing of it is lost`, async () => {
      const { token } = await server.client.call(routes.createToken, {
        body: { name: 'agent', scope: 'agent' },
      });
      writeFileSync(at('agent.token'), token);
      const older = await startAgent(installAgent(at('release-1'), '1.0.0'));
      expect((await node()).version).to.equal('1.0.0');
      const job = await submit(server.client, {
        command: [python, SCRIPT, at('enough')],
        resources: { cpu_only: true },
        max_attempts: 3,
      });
      await untilLines(job, ENOUGH_LINES);
      const [pid] = findMarked('SVC_JOB_ID', job.id);

      older.kill(signal);
      await older.ended;
      if (serverFate !== 'stays') await restartServer(serverFate);
      const newer = await startAgent(installAgent(at('release-2'), '2.0.0'));
      rmSync(at('release-1'), { recursive: true });
      expect(await node()).to.include({ version: '2.0.0', status: 'ONLINE' });
      await untilLines(job, (await readLog(job)).length + ENOUGH_LINES);
      expect(findMarked('SVC_JOB_ID', job.id), 'the process is the same').to.deep.equal([pid]);

      writeFileSync(at('enough'), '');
      const ended = await untilJob(server.client, job.id, ({ status }) => isTerminal(status), PATIENCE_MS);
      expect(ended).to.include({ status: 'SUCCEEDED', exit_code: 0, attempt: 1, failure_reason: null });
      expect(findMarked('SVC_JOB_ID', job.id)).to.deep.equal([]);
      await expectNothingLost(ended, pid!);
      newer.kill();
      await newer.ended;
    });
  }

  /** The log has each line once, in order; the run has each point once, with the value that was printed. */
  async function expectNothingLost(job: Job, pid: number): Promise<void> {
    const lines = await readLog(job);
    const steps = lines.slice(1, -1);
    expect([lines[0], lines.at(-1)]).to.deep.equal([`pid ${pid}`, `done ${steps.length}`]);
    const losses = steps.map((line, index) => {
      const [, step, loss] = /^step (\d+) loss (\S+)$/.exec(line) ?? [];
      expect(Number(step), line).to.equal(index + 1);
      return Number(loss);
    });

    const params = { run_id: job.run_id ?? '' };
    const { series } = await server.client.call(routes.readSeries, { params, query: { limit: 10_000 } });
    const points = series['train/loss'];
    expect(points?.downsampled).to.equal(false);
    expect(points?.steps).to.deep.equal(losses.map((_, index) => index + 1));
    expect(points?.values).to.deep.equal(losses);
    const run = await server.client.call(routes.getRun, { params });
    expect(run).to.include({ status: 'SUCCEEDED', step: losses.length });
  }
});
