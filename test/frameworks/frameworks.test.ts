import { readFileSync } from 'node:fs';
import path from 'node:path';
import { routes, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { setFrameworksStage } from '../support/frameworks-stage.js';
import { ROOT, startProgram } from '../support/program.js';

const SCRIPTS = path.join(ROOT, 'test', 'fixtures', 'frameworks');
const PATIENCE = { timeoutMs: 60_000 };

type Logged = Record<string, number>;

/** Real trainings of tiny models on the CPU against the real server. `npm run test:frameworks` installs the frameworks. */
describe('the Python SDK in real frameworks', function () {
  this.timeout(300_000);
  const stage = setFrameworksStage();

  /** What the script printed as its result. */
  async function train(...args: string[]): Promise<unknown> {
    const token = readFileSync(path.join(stage.workplace.dataDir, 'token'), 'utf8').trim();
    const own = { SVC_URL: stage.server.url, SVC_TOKEN: token, PYTHONPATH: path.join(ROOT, 'sdk', 'python') };
    const quiet = { HF_HUB_OFFLINE: '1', KERAS_BACKEND: 'torch', SVC_FLUSH_TIMEOUT_S: '30' };
    const env = {
      PATH: `${path.dirname(stage.python)}:${process.env['PATH']}`,
      HOME: stage.workplace.dir,
      ...own,
      ...quiet,
    };
    const { status, stdout, stderr } = await startProgram(stage.python, args, env, stage.workplace.dir).ended;
    expect(status, stderr).to.equal(0);
    expect(stderr).to.not.contain('left out').and.not.contain('offline');
    return JSON.parse(/^RESULT (.*)$/m.exec(stdout)?.[1] ?? 'null');
  }
  const script = (name: string) => path.join(SCRIPTS, `train-${name}.py`);

  async function ended(name: string): Promise<Run> {
    const run = await until(async () => {
      const { items } = await stage.server.client.call(routes.listRuns, { query: { name } });
      return items.length === 1 && items[0]!.finished_at !== null ? items[0]! : null;
    }, PATIENCE);
    return (await stage.server.client.call(routes.getRun, { params: { run_id: run!.id } })) as Run;
  }
  async function seriesOf({ id }: Run) {
    const request = { params: { run_id: id }, query: { limit: 10_000 } };
    const { series } = await stage.server.client.call(routes.readSeries, request);
    return Object.fromEntries(
      Object.entries(series).map(([name, { steps, values }]) => [
        name,
        steps.map((step, index) => [step, values[index]]),
      ]),
    );
  }
  async function checkpointsOf({ id }: Run) {
    const { items } = await stage.server.client.call(routes.listRunCheckpoints, { params: { run_id: id } });
    return items.reverse();
  }

  it('reports a run of the Hugging Face Trainer as the Trainer logged it', async () => {
    const history = (await train(script('hugging-face'))) as Logged[];
    const run = await ended('tiny bert');
    expect(run).to.deep.include({ status: 'SUCCEEDED', max_steps: 12, step: 12, tags: ['hf'] });
    expect(run.config).to.deep.include({ hidden_size: 16, learning_rate: 1e-3, model_type: 'bert' });
    const series = await seriesOf(run);
    const logged = (key: string) => history.filter((row) => key in row).map((row) => [row['step'], row[key]]);
    for (const [name, key] of [
      ['train/loss', 'loss'],
      ['train/grad_norm', 'grad_norm'],
      ['train/learning_rate', 'learning_rate'],
      ['eval/loss', 'eval_loss'],
      ['train/train_loss', 'train_loss'],
    ] as const) {
      expect(logged(key), key).to.not.deep.equal([]);
      expect(series[name], name).to.deep.equal(logged(key));
    }
    const checkpoints = await checkpointsOf(run);
    expect(checkpoints.map(({ path: at, step }) => [path.basename(at), step])).to.deep.equal([
      ['checkpoint-6', 6],
      ['checkpoint-12', 12],
    ]);
  });

  it('reports a run of Lightning as its CSV logger wrote it', async () => {
    const { csv } = (await train(script('lightning'))) as { csv: string };
    const run = await ended('a line');
    expect(run).to.deep.include({ status: 'SUCCEEDED', config: { lr: 0.1, sizes: [4, 1] } });
    const [head = '', ...rows] = readFileSync(path.join(stage.workplace.dir, csv), 'utf8').trim().split('\n');
    const names = head.trim().split(',');
    const series = await seriesOf(run);
    for (const name of ['train/loss', 'val/loss']) {
      const written = rows
        .map((row) => row.trim().split(','))
        .filter((cells) => cells[names.indexOf(name)] !== '')
        .map((cells) => [Number(cells[names.indexOf('step')]), Number(cells[names.indexOf(name)])]);
      expect(written, name).to.have.length.above(2);
      expect(series[name], name).to.deep.equal(written);
    }
    const checkpoints = await checkpointsOf(run);
    expect(checkpoints.map(({ step }) => step)).to.deep.equal([16, 32, 48]);
    expect(checkpoints[2]!.metadata).to.have.property('val/loss');
  });

  it('reports a fit of Keras as its history has it', async () => {
    const history = (await train(script('keras'))) as Record<string, number[]>;
    const run = await ended('dense');
    expect(run).to.include({ status: 'SUCCEEDED', max_steps: 9 });
    expect(run.config).to.deep.include({ epochs: 3, parameters: 5 });
    const series = await seriesOf(run);
    for (const [name, key] of [
      ['train/loss', 'loss'],
      ['train/mae', 'mae'],
      ['val/loss', 'val_loss'],
    ] as const)
      expect(series[name], name).to.deep.equal(history[key]!.map((value, epoch) => [3 * (epoch + 1), value]));
  });

  it('reports the scalars of event files, when wandb was asked to', async () => {
    await train(script('event-files'));
    const run = await ended('synced');
    expect(run).to.deep.include({ status: 'SUCCEEDED', config: { lr: 0.1 } });
    expect(await seriesOf(run)).to.deep.equal({
      'losses/td_loss': Array.from({ length: 50 }, (_, step) => [step, step / 8]),
      'charts/SPS': [[49, 7]],
      'hparam/acc': [[0, 0.5]],
      'other/eval/loss': [[3, 2]],
      lr: [[4, 0.25]],
    });
  });

  it('lets the first of the processes that torchrun starts report, and no other', async () => {
    await train('-m', 'torch.distributed.run', '--standalone', '--nproc-per-node=2', script('ranks'));
    const series = await seriesOf(await ended('ranks'));
    expect(series).to.deep.equal({ rank: [[0, 0]], processes: [[0, 2]] });
  });

  it('takes scalars and configs of torch, numpy, omegaconf and pydantic', async () => {
    await train(script('values'));
    const run = await ended('values');
    expect(run.config).to.deep.equal({
      hydra: { lr: 0.1, warmup: 0.1, layers: [64, 32] },
      model: { width: 64, optimizer: 'adam' },
      data: { path: '/data', sizes: [1, 2] },
      seed: 1,
      width: 1,
      optimizer: 'adam',
    });
    expect(await seriesOf(run)).to.deep.equal({
      torch: [[3, 0.5]],
      half: [[3, 0.25]],
      running: [[3, 1]],
      numpy: [[4, 0.5]],
      int: [[4, 7]],
      one: [[4, 2]],
    });
  });

  it('reports from a kernel of Jupyter, whose end ends the run', async () => {
    await train(script('notebook'));
    expect(await ended('first')).to.include({ status: 'SUCCEEDED' });
    const second = await ended('second');
    expect(second).to.include({ status: 'SUCCEEDED' });
    expect((await seriesOf(second))['loss']).to.deep.equal([
      [0, 2],
      [1, 3],
    ]);
    const query = { run_id: second.id, type: 'CUSTOM' };
    const { items } = await stage.server.client.call(routes.listEvents, { query });
    expect(items.map(({ title }) => title)).to.deep.equal(['ZeroDivisionError: division by zero']);
  });
});
