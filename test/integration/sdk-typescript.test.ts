import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readBlocks } from '../support/page.js';
import { ROOT, startProgram } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const POINTS = 4_000;
/** Logs for some seconds, so that the server can go and come back meanwhile. */
const LONG_TRAINING = `
  import { init } from '@svc/sdk';
  const run = await init({ name: 'long' });
  for (let step = 1; step <= ${POINTS}; step += 1) {
    run.log({ loss: step / 7 }, { step });
    if (step % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await run.finish();
`;

describe('the TypeScript SDK against the real server', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  beforeEach(async () => {
    workplace = createWorkplace();
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(workplace.dir, 'node_modules'));
    server = await workplace.startServer();
  });
  afterEach(() => workplace.close());

  function train(code: string) {
    const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
    const env = { PATH: process.env['PATH'], HOME: workplace.dir, SVC_URL: server.url, SVC_TOKEN: token };
    const args = ['--input-type=module', '-e', code];
    return startProgram(process.execPath, args, { ...env, SVC_FLUSH_TIMEOUT_S: '60' }, workplace.dir);
  }

  async function onlyRun() {
    const { items } = await server.client.call(routes.listRuns);
    expect(items).to.have.length(1);
    const run = items[0]!;
    const params = { run_id: run.id };
    const [{ series }, checkpoints, events] = await Promise.all([
      server.client.call(routes.readSeries, { params, query: { limit: 10_000 } }),
      server.client.call(routes.listRunCheckpoints, { params }),
      server.client.call(routes.listEvents, { query: { run_id: run.id, type: 'CUSTOM' } }),
    ]);
    return { run, series, checkpoints: checkpoints.items, events: events.items };
  }

  it('runs the example of its README', async () => {
    const readme = readFileSync(path.join(ROOT, 'sdk', 'typescript', 'README.md'), 'utf8');
    const [, example = ''] = /```js\n(.*?)```/s.exec(readme)!;
    const { status, stderr } = await train(example).ended;
    expect(status, stderr).to.equal(0);
    const { run, series, checkpoints, events } = await onlyRun();
    expect(run).to.include({ status: 'SUCCEEDED', step: 100, max_steps: 100 });
    expect(run.config).to.deep.equal({ lr: 3e-4 });
    expect(series['train/loss']!.values).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => 1 / (index + 1)),
    );
    expect(checkpoints.map(({ path: at, step }) => [path.basename(at), step])).to.deep.equal([
      ['checkpoint-100', 100],
    ]);
    expect(events.map(({ title, severity }) => [title, severity])).to.deep.equal([['lr dropped', 'warning']]);
  });

  it('runs the example of docs/sdk.md', async () => {
    const [example] = readBlocks('docs/sdk.md').filter(({ language }) => language === 'js');
    const { status, stderr } = await train(example?.text ?? '').ended;
    expect(status, stderr).to.equal(0);
    const { run, checkpoints, events } = await onlyRun();
    expect(run).to.deep.include({ status: 'SUCCEEDED', step: 100, tags: ['baseline'], config: { lr: 1e-4 } });
    expect([checkpoints.length, events.length]).to.deep.equal([1, 1]);
  });

  it('has each point stored exactly once when the server is killed and comes back', async () => {
    const training = train(LONG_TRAINING);
    const points = async () => (await server.client.call(routes.listRuns)).items[0]?.step ?? 0;
    for (const threshold of [200, 1_500]) {
      await until(async () => (await points()) > threshold, { timeoutMs: 60_000 });
      server.kill('SIGKILL');
      await server.ended;
      server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
    }
    const { status, stderr } = await training.ended;
    expect(status, stderr).to.equal(0);
    const { run, series } = await onlyRun();
    expect(run).to.include({ status: 'SUCCEEDED', step: POINTS });
    expect(series['loss']!.total).to.equal(POINTS);
    expect(series['loss']!.steps).to.deep.equal(Array.from({ length: POINTS }, (_, index) => index + 1));
    expect(series['loss']!.values).to.deep.equal(series['loss']!.steps.map((step) => step / 7));
  });

  it('reports to the run of its job', async () => {
    await workplace.startAgent(server);
    const code = `import { init } from '@svc/sdk'; const run = await init(); run.log({ loss: 1 });`;
    const job = await submit(server.client, {
      command: [process.execPath, '--input-type=module', '-e', code],
      working_dir: ROOT,
      resources: { cpu_only: true },
    });
    await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED');
    const { run, series } = await onlyRun();
    expect(run).to.include({ job_id: job.id, status: 'SUCCEEDED' });
    expect(series['loss']!.values).to.deep.equal([1]);
  });
});
