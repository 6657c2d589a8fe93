import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { routes, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { CALLS, installPackages, toConfigText, writeConfig } from '../support/configuration.js';
import { requireEngine } from '../support/engines.js';
import { readBlocks } from '../support/page.js';
import { ROOT, startProgram, type Program } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const LOST_AFTER_S = 3;
const SDK = path.join(ROOT, 'sdk', 'python');
/** Of a training that is there, and reports every tenth of a second. */
const BUSY = `
import time
import svc
run = svc.init(name="busy", max_steps=100_000)
for step in range(100_000):
    run.log({"loss": 1 / (step + 1)}, step=step)
    time.sleep(0.1)
`;

describe('the Python SDK against the real server', function () {
  this.timeout(120_000);
  let python: string;
  let workplace: Workplace;
  let server: Server;
  before(async function () {
    python = requireEngine(this, 'python');
    workplace = createWorkplace();
    installPackages(workplace.dir);
    const calls = CALLS.map((call) =>
      call === 'runs()' ? `runs({ run_lost_after_s: ${LOST_AFTER_S} })` : call,
    );
    const config = writeConfig(workplace.dir, toConfigText(calls));
    server = await workplace.startServer({ args: ['--config', config] });
    await workplace.startAgent(server);
  });
  after(() => workplace?.close());

  function train(code: string): Program {
    const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
    const own = { SVC_URL: server.url, SVC_TOKEN: token, PYTHONPATH: SDK };
    const env = { PATH: process.env['PATH'], HOME: workplace.dir, ...own };
    const program = startProgram(python, ['-c', code], env, workplace.dir);
    return program;
  }
  async function findRun(name: string): Promise<Run | undefined> {
    return (await server.client.call(routes.listRuns, { query: { q: name } })).items[0];
  }
  const untilRun = (name: string, condition: (run: Run) => boolean) =>
    until(
      async () => {
        const run = await findRun(name);
        return run && condition(run) ? run : null;
      },
      { timeoutMs: 30_000 },
    ) as Promise<Run>;

  it('runs the example of its README, and prints the link', async () => {
    const readme = readFileSync(path.join(SDK, 'README.md'), 'utf8');
    const [, example = ''] = /```python\n(.*?)```/s.exec(readme)!;
    const { status, stderr } = await train(`${example}\nprint(run.url)`).ended;
    expect(status, stderr).to.equal(0);
    const run = await untilRun('', ({ step }) => step === 120);
    expect(run).to.include({ status: 'SUCCEEDED', max_steps: 10_000 });
    expect(stderr).to.include(`svc: the run ${run.name} is at ${server.url}/runs/${run.id}\n`);
    const params = { run_id: run.id };
    const { metrics } = await server.client.call(routes.getRunSummary, { params });
    expect(metrics['eval/acc']).to.include({ direction: 'maximize', is_primary: true });
  });

  it('runs the examples of docs/sdk.md', async () => {
    const examples = readBlocks('docs/sdk.md').filter(({ language }) => language === 'python');
    expect(examples).to.have.length(4);
    for (const { text } of examples) {
      const { status, stderr } = await train(text).ended;
      expect(status, `${text}\n${stderr}`).to.equal(0);
      expect(stderr).to.not.contain('left out');
    }
    const run = await untilRun('resnet', ({ step }) => step === 100);
    expect(run).to.deep.include({ tags: ['baseline'], config: { lr: 1e-4, layers: [64, 64] } });
    const params = { run_id: (await untilRun('forked', () => true)).id };
    const { series } = await server.client.call(routes.readSeries, { params });
    expect(series).to.have.all.keys('parent', 'worker');
    expect(await findRun('on-a-train')).to.equal(undefined);
  });

  it('runs the examples of docs/reporting.md that need no framework', async () => {
    const own = /^(import svc|from svc\.integrations\.tensorboard)/;
    const examples = readBlocks('docs/reporting.md').filter(
      ({ language, text }) => language === 'python' && own.test(text),
    );
    expect(examples).to.have.length(3);
    for (const { text } of examples) {
      const { status, stderr } = await train(text).ended;
      expect(status, `${text}\n${stderr}`).to.equal(0);
    }
    for (const [name, metric] of [
      ['lr-0.1', 'hparam/acc'],
      ['resnet', 'train/loss'],
    ] as const) {
      const { id } = await untilRun(name, (run) => run.finished_at !== null);
      const { series } = await server.client.call(routes.readSeries, { params: { run_id: id } });
      expect(series).to.have.property(metric);
    }
    const { items } = await server.client.call(routes.listRuns, { query: { q: '' } });
    expect(items.some(({ config }) => (config as { lr?: number }).lr === 3e-4)).to.equal(true);
  });

  it('brings in what was recorded without a server, when a run next finds it', async () => {
    const offline = `
import svc
with svc.init(name="recorded", mode="offline", config={"lr": 2}) as run:
    run.log({"loss": 0.25}, step=3)
    run.event("halfway")`;
    expect((await train(offline).ended).status).to.equal(0);
    const next = await train('import svc, time\nsvc.init(name="next")\ntime.sleep(3)').ended;
    expect(next.stderr).to.contain('what was recorded in').and.contain('svc-offline/delivered/recorded');
    const run = await untilRun('recorded', ({ finished_at }) => finished_at !== null);
    expect(run).to.deep.include({ status: 'SUCCEEDED', config: { lr: 2 } });
    const params = { run_id: run.id };
    const { series } = await server.client.call(routes.readSeries, { params });
    expect(series['loss']).to.deep.include({ steps: [3], values: [0.25] });
    const { items } = await server.client.call(routes.listEvents, { query: { ...params, type: 'CUSTOM' } });
    expect(items.map(({ title }) => title)).to.deep.equal(['halfway']);
    expect(run.finished_at! - run.started_at).to.be.lessThan(3_000);
  });

  for (const first of ['svc import', 'the SDK'])
    it(`brings in a recorded run once, when ${first} is the first to do it`, async () => {
      const name = `by-${first.replace(' ', '-')}-once`;
      const code = `
import svc
with svc.init(name="${name}", mode="offline") as run:
    for step in range(100):
        run.log({"loss": step / 8})
    run.event("halfway")
    run.event("halfway")
    run.checkpoint("/nowhere/a.pt", step=7)
print(run.offline_path)`;
      const recorded = await train(code).ended;
      const folder = recorded.stdout.trim();
      const delivered = path.join(path.dirname(folder), 'delivered', path.basename(folder));
      const steps = {
        'svc import': async () => {
          const place = existsSync(folder) ? folder : delivered;
          const { status, stderr } = await workplace.svc(['import', place, '--json']);
          expect(status, stderr).to.equal(0);
        },
        'the SDK': async () => {
          const next = await train('import svc, time\nsvc.init(name="next")\ntime.sleep(3)').ended;
          expect(next.stderr).to.not.contain('already ended');
          expect(existsSync(delivered), next.stderr).to.equal(true);
        },
      };
      const order = Object.keys(steps).sort((one) => (one === first ? -1 : 1)) as (keyof typeof steps)[];
      for (const way of order) {
        await steps[way]();
        const { items } = await server.client.call(routes.listRuns, { query: { q: name } });
        expect(items).to.have.length(1);
        expect(items[0]!.status).to.equal(first === 'the SDK' ? 'SUCCEEDED' : 'IMPORTED');
        const params = { run_id: items[0]!.id };
        const { series } = await server.client.call(routes.readSeries, { params });
        expect(series['loss']!.values).to.deep.equal(Array.from({ length: 100 }, (_, step) => step / 8));
        const query = { ...params, type: 'CUSTOM' as const };
        expect((await server.client.call(routes.listEvents, { query })).items).to.have.length(2);
        expect((await server.client.call(routes.listRunCheckpoints, { params })).items).to.have.length(1);
      }
    });

  it('fills in a job what the submit left open, and says in its log what it could not change', async () => {
    const code = `
import svc
run = svc.init(name="filled", project="open", experiment="e", tags=["t"], config={"betas": (0.9, 0.999)})
svc.log({"done": True})
run.define_metric("done", direction="maximize")
svc.init(name="fold 2").finish()`;
    const command = [python, '-c', code];
    const rest = { resources: { cpu_only: true } };
    const open = await submit(server.client, { command, ...rest });
    await untilJob(server.client, open.id, ({ status }) => status === 'SUCCEEDED');
    const { items } = await server.client.call(routes.listJobRuns, { params: { job_id: open.id } });
    const [fold, own] = items;
    expect(own).to.deep.include({ name: 'filled', tags: ['t'], config: { betas: [0.9, 0.999] } });
    expect(own).to.include({ status: 'SUCCEEDED', source: 'job' });
    expect(fold).to.include({ name: 'fold 2', project_id: own!.project_id, status: 'SUCCEEDED' });
    const job = await server.client.call(routes.getJob, { params: { job_id: open.id } });
    expect(job).to.include({ project: 'open', experiment: 'e' });

    const decided = await submit(server.client, { command, ...rest, name: 'mine', project: 'closed' });
    await untilJob(server.client, decided.id, ({ status }) => status === 'SUCCEEDED');
    const told = await until(async () => {
      const { lines } = await server.client.call(routes.tailLogs, { params: { job_id: decided.id } });
      return lines.find(({ text }) => text.startsWith('svc: this run keeps'));
    });
    expect(told?.text).to.equal("svc: this run keeps its project 'closed', name 'mine', decided before init");
  });

  it('has a run that dies LOST, with its last sign as its end', async () => {
    const training = train(BUSY.replace('busy', 'killed'));
    await untilRun('killed', ({ step }) => (step ?? 0) > 3);
    training.kill('SIGKILL');
    await training.ended;
    await untilRun('killed', ({ stale_since }) => stale_since !== null);
    const lost = await untilRun('killed', ({ status }) => status === 'LOST');
    expect(lost.finished_at).to.be.greaterThan(lost.started_at);
    const { items } = await server.client.call(routes.listEvents, { query: { run_id: lost.id } });
    expect(items.map(({ type }) => type)).to.deep.equal(['RUN_LOST', 'RUN_STARTED']);
  });

  it('has a run that stands still LOST, and RUNNING again when it goes on', async () => {
    const training = train(BUSY.replace('busy', 'stopped'));
    await untilRun('stopped', ({ step }) => (step ?? 0) > 3);
    training.kill('SIGSTOP');
    await untilRun('stopped', ({ status }) => status === 'LOST');
    training.kill('SIGCONT');
    const found = await untilRun('stopped', ({ status }) => status === 'RUNNING');
    expect(found).to.include({ finished_at: null, stale_since: null });
    training.kill('SIGTERM');
    await training.ended;
    expect((await untilRun('stopped', ({ status }) => status !== 'RUNNING')).status).to.equal('CANCELLED');
  });

  it('has a run that only gives signs of life RUNNING', async () => {
    const code = `
import time
import svc
svc.sender.SIGN_EVERY_S = 0.5
run = svc.init(name="idle")
time.sleep(${2 * LOST_AFTER_S})
print(run.url)`;
    const { status, stderr } = await train(code).ended;
    expect(status, stderr).to.equal(0);
    const run = await untilRun('idle', ({ finished_at }) => finished_at !== null);
    expect(run.status).to.equal('SUCCEEDED');
    const query = { run_id: run.id, type: 'RUN_LOST' };
    expect((await server.client.call(routes.listEvents, { query })).items).to.deep.equal([]);
  });
});
