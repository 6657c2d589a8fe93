import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { Program } from '../support/program.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const TRAINING = path.join(ROOT, 'test/fixtures/report-until-killed.py');
const PATIENCE_MS = 60_000;

describe('what a training reports while the server is gone', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let agent: Program;
  let notes: string;
  beforeEach(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    agent = await workplace.startAgent(server);
    notes = path.join(workplace.dir, 'notes');
    mkdirSync(notes);
  });
  afterEach(() => workplace.close());

  const note = (name: string) => writeFileSync(path.join(notes, name), '');
  const noted = (name: string) => until(() => existsSync(path.join(notes, name)), { timeoutMs: PATIENCE_MS });
  const pid = () => Number(readFileSync(path.join(notes, 'away'), 'utf8'));

  async function kill(program: Program): Promise<void> {
    program.kill('SIGKILL');
    await program.ended;
  }

  async function startAgain(): Promise<void> {
    const { port } = new URL(server.url);
    server = await workplace.startServer({ args: ['--port', port] });
  }

  async function startTraining(): Promise<Job> {
    const job = await submit(server.client, {
      command: ['python3', TRAINING, notes],
      resources: { cpu_only: true },
    });
    await noted('online');
    return job;
  }

  /** All of it, once: what came before the outage and what came in it. */
  async function expectAllOnce({ id, run_id: runId }: Job): Promise<void> {
    const params = { params: { run_id: runId as string } };
    const series = async () => {
      const query = { limit: 10_000 };
      return (await server.client.call(routes.readSeries, { ...params, query })).series['loss'];
    };
    const events = async (type: string) =>
      (await server.client.call(routes.listEvents, { query: { job_id: id, type } })).items;
    await until(async () => (await series())?.total === 1100 && (await events('CUSTOM')).length === 2, {
      timeoutMs: PATIENCE_MS,
    });
    expect((await series())?.values).to.deep.equal(Array.from({ length: 1100 }, (_, step) => step));
    expect((await events('CUSTOM')).map(({ title }) => title)).to.have.members(['before', 'during']);
    const { items } = await server.client.call(routes.listRunCheckpoints, params);
    expect(items.map(({ step, path: file }) => [step, path.basename(file)])).to.deep.equal([
      [500, 'checkpoint-500'],
    ]);
    expect(await events('CHECKPOINT_CREATED')).to.have.length(1);
    const run = await server.client.call(routes.getRun, params);
    expect(run).to.deep.include({ status: 'FAILED', step: 1099, config: { lr: 0.1 } });
    const summary = await server.client.call(routes.getRunSummary, params);
    expect(summary.metrics['loss']?.count).to.equal(1100);
  }

  it('is there once, though the process was killed before the server was back', async () => {
    const job = await startTraining();
    await kill(server);
    note('server-is-gone');
    await noted('away');
    process.kill(pid(), 'SIGKILL');
    await startAgain();
    const ended = await untilJob(server.client, job.id, ({ status }) => status === 'FAILED');
    expect(ended.exit_code).to.equal(-9);
    await expectAllOnce(ended);
  });

  it('is there once, though agent and server were killed again and again while it was delivered', async () => {
    const job = await startTraining();
    await kill(server);
    note('server-is-gone');
    await noted('away');
    process.kill(pid(), 'SIGKILL');
    await kill(agent);
    for (let round = 0; round < 3; round += 1) {
      await startAgain();
      agent = await workplace.startAgent(server);
      await kill(round % 2 === 0 ? agent : server);
      await kill(round % 2 === 0 ? server : agent);
    }
    await startAgain();
    agent = await workplace.startAgent(server);
    const ended = await untilJob(server.client, job.id, ({ status }) => status === 'FAILED');
    await expectAllOnce(ended);
  });
});
