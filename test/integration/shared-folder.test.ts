import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { ROOT, type Program } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const TRAINING = path.join(ROOT, 'test/fixtures/shared-folder-train.py');
const PATIENCE = { timeoutMs: 60_000 };
const SHORT = { value: 1, steps: 60 };
const LONG = { value: 2, steps: 200 };

describe('two trainings of PyTorch in one folder', function () {
  this.timeout(180_000);
  let python: string;
  let packages: string;
  let workplace: Workplace;
  let server: Server;
  let agent: Program;
  before(async function () {
    python = requireEngine(this, 'torch');
    const library = path.resolve(requireEngine(this, 'tensorboard'), '../../lib');
    packages = path.join(library, readdirSync(library)[0]!, 'site-packages');
    workplace = createWorkplace();
    server = await workplace.startServer();
    agent = await workplace.startAgent(server);
  });
  after(() => workplace?.close());

  it('each have their own values and config, though the agent is killed and the one ends before the other', async () => {
    const working_dir = path.join(workplace.dir, 'shared');
    mkdirSync(working_dir);
    const start = async ({ value, steps }: typeof SHORT) => {
      const { id } = await submit(server.client, {
        command: [python, TRAINING, String(value), String(steps)],
        resources: { cpu_only: true },
        env: { TENSORBOARD_PACKAGES: packages },
        working_dir,
      });
      return untilJob(server.client, id, ({ run_id }) => run_id !== null);
    };
    const [short, long] = await Promise.all([start(SHORT), start(LONG)]);
    await until(async () => (await valuesOf(short)).length >= 20, PATIENCE);
    agent.kill('SIGKILL');
    await agent.ended;
    agent = await workplace.startAgent(server);
    for (const job of [short, long])
      await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED', 120_000);

    for (const [job, { value, steps }] of [[short, SHORT] as const, [long, LONG] as const]) {
      await until(async () => (await valuesOf(job)).length >= steps, PATIENCE);
      expect(await valuesOf(job)).to.deep.equal(Array.from({ length: steps }, () => value));
      const params = { run_id: job.run_id! };
      expect((await server.client.call(routes.getRun, { params })).config).to.deep.equal({ value });
      await until(() => isAllToldOf(job, steps / 20), PATIENCE);
      const names = await checkpointsOf(job);
      for (const name of names) expect(name).to.match(new RegExp(`^model_${value}_`));
    }
  });

  /** A checkpoint that was written in a moment may have no proof of its writer. The last ones come after the end of the job. */
  async function isAllToldOf(job: Job, count: number): Promise<boolean> {
    const query = { run_id: job.run_id! };
    const { items } = await server.client.call(routes.listEvents, { query });
    const isTold = items.some(({ title }) => title.startsWith('A checkpoint is left out'));
    return isTold || (await checkpointsOf(job)).length === count;
  }

  async function checkpointsOf({ run_id }: Job): Promise<string[]> {
    const params = { run_id: run_id! };
    const { items } = await server.client.call(routes.listRunCheckpoints, { params });
    return items.map(({ path: file }) => path.basename(file));
  }

  async function valuesOf({ run_id }: Job) {
    const query = { names: 'value', limit: 10_000 };
    const { series } = await server.client.call(routes.readSeries, { params: { run_id: run_id! }, query });
    return series['value']?.values ?? [];
  }
});
