import { expect } from 'chai';
import { pseudoRandom } from '../../../signals/test/pseudo-random.js';
import { pointsOf, typesOf } from './support/series.js';
import { toldOf, watchOf } from './support/watch.js';

const AT = 1_700_000_000_000;
const flat = (count: number, value = 1) =>
  Array.from({ length: count }, (_, index) => value + 0.01 * (index % 3));

describe('LOSS_NAN', () => {
  for (const value of ['NaN', 'Infinity', '-Infinity'] as const)
    it(`fires for a loss that is ${value}, once`, () => {
      const told = toldOf(pointsOf({ 'train/loss': [1, 0.9, value, value, value], 'val/loss': [1, value] }));
      expect(told.map(({ finding }) => finding.type)).to.deep.equal(['LOSS_NAN']);
      expect(told[0]?.finding).to.include({ severity: 'critical' });
      expect(told[0]?.finding.data).to.include({ step: 1, metric: 'val/loss' });
    });

  it('fires for a NaN in a loss by another name, and not for an infinity, which a perplexity may reach', () => {
    for (const name of [
      'nll',
      'losses',
      'trainloss',
      'train_loss_total',
      'val/perplexity',
      'cross_entropy',
      'kl',
    ])
      expect(typesOf({ [name]: [1, 'NaN'] }), name).to.deep.equal(['LOSS_NAN']);
    expect(typesOf({ ppl: [1, 'Infinity'], nll: [1, 'Infinity'] })).to.deep.equal([]);
  });

  it('does not fire for other metrics, nor for what is about a loss and is none', () => {
    const series = {
      grad_norm: ['NaN'],
      'eval/acc': ['NaN'],
      'amp/loss_scale': ['Infinity'],
      best_val_loss: ['Infinity'],
    } as const;
    expect(typesOf(series)).to.deep.equal([]);
  });

  const lines: readonly [text: string, fires: boolean][] = [
    ['step 10 loss: nan', true],
    ["{'loss': nan, 'grad_norm': 3.2, 'epoch': 0.01}", true],
    ['[rank3]: epoch 2, train_loss=inf', true],
    ['Loss is NaN, stopping training', true],
    ['loss = tensor(nan, device=cuda:0)', true],
    ['NaN loss detected at step 5', true],
    ['nan loss', true],
    ['WARNING: NaN or Inf loss encountered', true],
    ['ERROR: NaN loss. Stopping.', true],
    ['loss went to nan', true],
    ['Loss is now nan', true],
    ['loss value is nan', true],
    ['Loss/train nan', true],
    ['loss_ce: nan', true],
    ['loss(train): nan', true],
    ['Epoch 3 | loss | nan', true],
    ['loss -> nan', true],
    ['losses: nan', true],
    ['trainloss: nan', true],
    [' 37%|###   | 37/100 [00:05<00:09, loss=nan]', true],
    ['step 10 loss: 0.31', false],
    ['best_val_loss: inf', false],
    ['loss_scale: inf', false],
    ['the loss function is nan-safe', false],
    ['loss info: none', false],
    ['no nan loss found', false],
    ['stop_on_nan_loss: true', false],
    ['checking for nan loss', false],
    ['nan loss check enabled', false],
    ['NaN losses: 0', false],
    ['0 nan losses', false],
    ['loss = nan_to_num(loss)', false],
    ['loss is not nan', false],
    ['loss: finance', false],
    ['loss: 0.1 nan_count: 0', false],
    ['loss | nan_count', false],
    ['loss_weight: nan', false],
    ['loss_min: inf', false],
    ['grad_norm: nan', false],
    ['weights of class 3: nan, loss 0.3', false],
  ];
  for (const [text, fires] of lines)
    it(`${fires ? 'fires' : 'does not fire'} for the line ${text}`, () => {
      const input = { kind: 'log', at: AT, job_id: 'job', attempt: 1 } as const;
      const told = watchOf('run').feed({ ...input, lines: [{ seq: 3, stream: 'stdout', ts: AT, text }] });
      expect(told.map(({ finding }) => finding.type)).to.deep.equal(fires ? ['LOSS_NAN'] : []);
    });

  it('reads one huge line in no time', () => {
    const text = `${'loss '.repeat(200_000)}nan`;
    const startedMs = performance.now();
    const lines = [{ seq: 0, stream: 'stdout', ts: AT, text } as const];
    watchOf('run').feed({ kind: 'log', at: AT, job_id: 'job', attempt: 1, lines });
    watchOf('attempt').feed({ kind: 'log', at: AT, job_id: 'job', attempt: 1, lines });
    expect(performance.now() - startedMs).to.be.below(500);
  });
});

describe('LOSS_SPIKE', () => {
  it('fires for a loss over 3 times the median of its window, once while it lasts', () => {
    const told = toldOf(pointsOf({ loss: [...flat(20), 8, 8, 8, 8] }));
    expect(told.map(({ finding }) => finding.type)).to.deep.equal(['LOSS_SPIKE']);
    expect(told[0]?.finding.data).to.include({ metric: 'loss', step: 20, value: 8 });
  });

  it('does not fire below 3 times, for other metrics, for negative losses, or with fewer than 4 values before it', () => {
    expect(typesOf({ loss: [...flat(20), 2.9] })).to.deep.equal([]);
    expect(typesOf({ grad_norm: [...flat(20), 80], lr: [...flat(20), 80] })).to.deep.equal([]);
    expect(typesOf({ loss: [...flat(20, -5), 8] })).to.deep.equal([]);
    expect(typesOf({ loss: [1, 1, 1, 80] })).to.deep.equal([]);
  });

  it('does not fire below the floor, which is a part of the highest value', () => {
    const vanished = { loss: [10, ...flat(40).map((value) => value / 1000), 0.15] };
    expect(typesOf(vanished)).to.deep.equal([]);
    const withoutFloors = { 'loss-spike': { floor: 0, single_floor: 0, vanished_part: 0 } };
    expect(typesOf(vanished, withoutFloors)).to.deep.equal(['LOSS_SPIKE']);
  });

  it('does not fire for a surprise of a loss that has vanished; fires when it exceeds all before it, or lasts', () => {
    const falling = Array.from({ length: 80 }, (_, index) => 2 * 0.85 ** index);
    expect(typesOf({ loss: [...falling, 0.5, 1e-5, 0.3] })).to.deep.equal([]);
    expect(typesOf({ loss: [...falling, 3] })).to.deep.equal(['LOSS_SPIKE']);
    expect(typesOf({ loss: [...falling, 0.5, 0.5, 0.5] })).to.deep.equal(['LOSS_SPIKE']);
  });

  const steps = (count: number, valueAt: (step: number) => number) =>
    Array.from({ length: count }, (_, step) => valueAt(step));
  const steady: readonly [name: string, before: readonly number[], spike: number][] = [
    ['that falls', [2.5, 2.3, 2.1, 2.0, 1.9, 1.8, 1.75, 1.7, 1.65, 1.6], 10],
    ['that falls ever more slowly', steps(20, (step) => 2 / (1 + 0.1 * step)), 5],
    ['that varies by a tenth', steps(20, (step) => 1 + (step % 3) * 0.1), 5],
    ['of two values', steps(10, (step) => 0.5 + (step % 2) * 0.1), 5],
    ['that is constant', steps(20, () => 1), 4],
    ['of 4 values', [1, 0.9, 0.95, 0.9], 5],
    ['that is noisy', steps(40, (step) => [1, 1.6, 0.7, 2, 1.2, 0.6][step % 6] as number), 10],
  ];
  for (const [name, before, spike] of steady)
    it(`fires at once for a single value in a steady loss ${name}`, () => {
      const [told] = toldOf(pointsOf({ 'train/loss': [...before, spike, ...before.slice(-3)] }));
      expect(told?.finding.data).to.include({ step: before.length, value: spike });
    });

  it('fires at once for a single value of 5 times, whatever the noise of 20 % before it', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = pseudoRandom(seed * 7919);
      const before = steps(20, () => 0.8 + 0.4 * random());
      expect(typesOf({ loss: [...before, 5, 1, 1] }), `seed ${seed}`).to.deep.equal(['LOSS_SPIKE']);
    }
  });

  it('fires for a loss that varies wildly, or that has fallen far below its highest value, after two values in a row', () => {
    const wild = steps(40, (step) => [1, 2.5, 0.4, 2, 1.2, 0.3][step % 6] as number);
    expect(typesOf({ loss: [...wild, 1000, 1, 1, 1] })).to.deep.equal([]);
    expect(typesOf({ loss: [...wild, 1000, 1000] })).to.deep.equal(['LOSS_SPIKE']);
    const fallen = [50, ...steps(40, () => 1)];
    expect(typesOf({ loss: [...fallen, 8, 1, 1, 1] })).to.deep.equal([]);
    expect(typesOf({ loss: [...fallen, 8, 8] })).to.deep.equal(['LOSS_SPIKE']);
  });

  it('fires again after the cool-down, and not before', () => {
    const again = [...flat(20), 8, ...flat(40), 8];
    expect(typesOf({ loss: again })).to.deep.equal(['LOSS_SPIKE']);
    expect(typesOf({ loss: again }, { 'loss-spike': { cooldown_s: 1 } })).to.deep.equal([
      'LOSS_SPIKE',
      'LOSS_SPIKE',
    ]);
  });
});

describe('losses of a run with 10 000 metrics', () => {
  it('are followed up to a bound, fast, and LOSS_NAN fires for any of them', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `layer${index}/loss`);
    const watch = watchOf('run');
    const startedMs = performance.now();
    let seq = 0;
    for (let step = 0; step < 5; step += 1) {
      const points = names.map((name) => ({ seq: seq++, name, step, value: 1 + 0.01 * step }));
      expect(watch.feed({ kind: 'metric', at: AT + step, run_id: 'run', points })).to.deep.equal([]);
    }
    expect(performance.now() - startedMs).to.be.below(2_000);
    const points = [{ seq, name: 'layer9999/loss', step: 9, value: 'NaN' as const }];
    expect(watch.feed({ kind: 'metric', at: AT + 9, run_id: 'run', points })).to.have.length(1);
  });
});
