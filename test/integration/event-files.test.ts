import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { routes, type Job, type MetricValue } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { readEventFile, withoutOverwritten, type Item } from '@svc/plugin-event-files/reader';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { ROOT, type Program } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const WRITE_ALL = path.join(ROOT, 'test/fixtures/write-event-files.py');
const TRAINING = path.join(ROOT, 'test/fixtures/tensorboard-train.py');
const STEPS = 120;
const PATIENCE = { timeoutMs: 60_000 };

type Series = Record<string, [step: number, value: MetricValue][]>;

describe('event files of the real writers', function () {
  this.timeout(180_000);
  let python: string;
  let workplace: Workplace;
  let server: Server;
  let agent: Program;
  before(function () {
    python = requireEngine(this, 'tensorboard');
  });
  beforeEach(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    agent = await workplace.startAgent(server);
  });
  afterEach(() => workplace?.close());

  it('hold what TensorBoard reads of them, value for value', async () => {
    const folder = path.join(workplace.dir, 'logs');
    const { stdout } = await promisify(execFile)(python, [WRITE_ALL, folder]);
    const expected = JSON.parse(stdout) as Record<string, Series>;
    for (const [name, series] of Object.entries(expected))
      expect(await readFolder(path.join(folder, name)), name).to.deep.equal(series);
  });

  it('become curves and config of the run, though agent and server are killed meanwhile', async () => {
    const job = await startTraining();
    await untilPoints(job, 20);
    await kill(agent);
    await untilStep(job, 40);
    agent = await workplace.startAgent(server);
    await untilPoints(job, 50);
    await kill(server);
    await untilStep(job, 90);
    const { port } = new URL(server.url);
    server = await workplace.startServer({ args: ['--port', port] });
    await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED', 120_000);
    await until(async () => (await seriesOf(job, 'loss')).length >= STEPS, PATIENCE);

    const all = Array.from({ length: STEPS }, (_, step) => [step, Math.fround(1 / (step + 1))]);
    expect(await seriesOf(job, 'loss')).to.deep.equal(all);
    const tenths = all.filter((_, step) => step % 10 === 0);
    expect(await seriesOf(job, 'validation/loss')).to.deep.equal(tenths);
    expect(await seriesOf(job, 'odd')).to.deep.equal([
      [0, 'NaN'],
      [1, 'Infinity'],
    ]);
    const run = await server.client.call(routes.getRun, { params: { run_id: job.run_id! } });
    const hparams = { lr: 0.001, optimizer: 'adam', nesterov: true };
    expect(run.config).to.deep.equal({ ...hparams, seed: 1, env_id: 'CartPole-v1' });
  });

  it('of before the job are not its own', async () => {
    const folder = path.join(workplace.dir, 'logs');
    await promisify(execFile)(python, [WRITE_ALL, folder]);
    const job = await startTraining({ working_dir: folder });
    await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED');
    const { metrics } = await server.client.call(routes.getRunSummary, { params: { run_id: job.run_id! } });
    expect(Object.keys(metrics)).to.have.members(['loss', 'odd', 'validation/loss', 'hparam/acc']);
    expect(metrics['loss']?.count).to.equal(STEPS);
  });

  it('come with the checkpoints of the training, those that are rotated away too', async () => {
    const job = await startTraining({ env: { CHECKPOINTS: '1' } });
    await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED');
    const params = { run_id: job.run_id! };
    const list = async () => (await server.client.call(routes.listRunCheckpoints, { params })).items;
    await until(
      async () => (await list()).length === 3 && (await list()).some(({ deleted_at }) => deleted_at),
      PATIENCE,
    );
    const facts = (await list()).map(({ step, source, deleted_at }) => [step, source, deleted_at === null]);
    expect(facts).to.have.deep.members([
      [80, 'watcher', true],
      [40, 'watcher', true],
      [0, 'watcher', false],
    ]);
    const query = { run_id: job.run_id!, metric: 'loss' };
    const best = await server.client.call(routes.recommendCheckpoint, { query });
    expect([best.step, best.source]).to.deep.equal([80, 'training_fallback']);
  });

  it('do not count twice what the training reports itself', async () => {
    const job = await startTraining({ env: { REPORT_TOO: '1' } });
    await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED');
    await until(async () => (await seriesOf(job, 'odd')).length === 2, PATIENCE);
    expect(await seriesOf(job, 'loss')).to.deep.equal([[0, 7]]);
    expect(await seriesOf(job, 'validation/loss')).to.have.length(STEPS / 10);
  });

  async function startTraining({
    env = {},
    ...more
  }: { env?: Record<string, string>; working_dir?: string } = {}) {
    const { id } = await submit(server.client, {
      command: [python, TRAINING, String(STEPS)],
      resources: { cpu_only: true },
      env,
      ...more,
    });
    return untilJob(server.client, id, ({ run_id }) => run_id !== null);
  }

  async function kill(program: Program): Promise<void> {
    program.kill('SIGKILL');
    await program.ended;
  }

  const untilPoints = (job: Job, count: number) =>
    until(async () => (await seriesOf(job, 'loss')).length >= count, PATIENCE);

  /** By the event file itself: agent or server may be away. */
  async function untilStep({ id }: Job, step: number): Promise<void> {
    const folder = path.join(workplace.dir, 'agent', 'jobs', id, 'attempt-1', 'work', 'runs', 'exp');
    await until(async () => ((await readFolder(folder))['loss']?.length ?? 0) >= step, PATIENCE);
  }

  async function seriesOf({ run_id }: Job, name: string): Promise<[number, MetricValue][]> {
    const query = { names: name, limit: 10_000 };
    const { series } = await server.client.call(routes.readSeries, { params: { run_id: run_id! }, query });
    const { steps = [], values = [] } = series[name] ?? {};
    return steps.map((step, index) => [step, values[index]!]);
  }
});

async function readFolder(folder: string): Promise<Series> {
  const items: Item[] = [];
  const names = readdirSync(folder).filter((name) => name.includes('tfevents'));
  for (const name of names.sort())
    for await (const batch of readEventFile(path.join(folder, name))) items.push(...batch.items);
  const series: Series = {};
  for (const { tag, step, value } of withoutOverwritten(items)) {
    const plain = Number.isFinite(value) ? value : (String(value) as MetricValue);
    (series[tag] ??= []).push([step, plain]);
  }
  return series;
}
