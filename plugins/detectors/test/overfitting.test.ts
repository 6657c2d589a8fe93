import type { MetricPoint } from '@svc/contract';
import { expect } from 'chai';
import { pointsOf, typesOf } from './support/series.js';
import { toldOf } from './support/watch.js';

describe('OVERFITTING_SUSPECTED', () => {
  const training = [1, 0.8, 0.6, 0.4, 0.3, 0.2];

  it('fires when the training loss falls and the validation loss is 1.5 times its best', () => {
    for (const [train, val] of [
      ['train/loss', 'val/loss'],
      ['loss', 'val_loss'],
      ['train_loss', 'eval_loss'],
      ['loss', 'eval_loss'],
      ['train_ce_loss_epoch', 'valid_ce_loss'],
      ['trainLoss', 'testLoss'],
      ['train/perplexity', 'val/perplexity'],
      ['train_nll', 'valid_nll'],
    ] as const)
      expect(
        typesOf({ [train]: training, [val]: [1, 0.8, 0.9, 1.1, 1.3, 1.5] }),
        `${train}, ${val}`,
      ).to.deep.equal(['OVERFITTING_SUSPECTED']);
  });

  it('needs 4 evaluations, and fires at the fourth', () => {
    expect(typesOf({ 'train/loss': training, 'val/loss': [0.8, 1.2, 1.5] })).to.deep.equal([]);
    const [told] = toldOf(pointsOf({ 'train/loss': training, 'val/loss': [1, 0.8, 1, 1.3, 1.6] }), {}, 1);
    expect(told?.finding.data).to.include({ step: 3, best: 0.8, value: 1.3 });
  });

  /** The points of some metrics, in the order in which they arrive. */
  const arriving = (
    ...points: readonly (readonly [name: string, values: readonly number[], step: number])[]
  ) => points.map(([name, values, step], seq) => ({ seq, name, step, value: values[step] as number }));
  const firesAt = (points: readonly MetricPoint[]) =>
    [1, 3, 100].map((batch) => toldOf(points, {}, batch).map(({ finding }) => finding.data?.['step']));

  it('fires at the fourth evaluation when the last two are worse and the training loss falls', () => {
    for (const val of [
      [1, 0.6, 0.9, 1.2],
      [1, 0.5, 0.8, 1],
      [0.5, 0.6, 0.8, 1],
    ]) {
      const [told] = toldOf(pointsOf({ 'train/loss': [1, 0.8, 0.6, 0.4], 'val/loss': val }));
      expect(told?.finding.data, String(val)).to.include({ step: 3, best: Math.min(...val), training: 0.4 });
    }
  });

  it('does not fire at few evaluations when one alone is worse, or the training loss does not fall', () => {
    const falling = [1, 0.8, 0.6, 0.4, 0.3];
    expect(typesOf({ 'train/loss': falling, 'val/loss': [1, 0.6, 1.1, 0.7, 1.2] })).to.deep.equal([]);
    expect(typesOf({ 'train/loss': falling, 'val/loss': [1, 0.9, 0.4, 0.7] })).to.deep.equal([]);
    expect(typesOf({ 'train/loss': [1, 0.8, 0.7, 0.9], 'val/loss': [1, 0.6, 0.9, 1.2] })).to.deep.equal([]);
  });

  it('pairs the losses by step, in whatever order they arrive', () => {
    const train = [1, 0.8, 0.6, 0.4, 0.3, 0.2];
    const val = [1, 0.8, 0.9, 1.1, 1.3, 1.5];
    const [ofTraining, ofValidation] = [
      train.map((_, step) => ['train/loss', train, step] as const),
      val.map((_, step) => ['val/loss', val, step] as const),
    ];
    const validationFirst = val.flatMap((_, step) => [ofValidation[step]!, ofTraining[step]!]);
    for (const [order, points] of Object.entries({
      'the training first': [...ofTraining, ...ofValidation],
      'the validation first': [...ofValidation, ...ofTraining],
      'the validation first at each step': validationFirst,
    }))
      for (const [step] of firesAt(arriving(...points))) expect(step, order).to.be.within(4, 5);
  });

  it('fires at 4 evaluations that each arrive before the training loss of their step', () => {
    const [train, val] = [
      [1, 0.8, 0.6, 0.4],
      [0.5, 0.6, 0.8, 1],
    ];
    const points = arriving(
      ...[0, 1, 2, 3].flatMap(
        (step) =>
          [
            ['val/loss', val, step],
            ['train/loss', train, step],
          ] as const,
      ),
    );
    expect(firesAt(points)).to.deep.equal([[3], [3], [3]]);
  });

  it('finds the training loss of each evaluation among thousands of points that came before', () => {
    const train = Array.from({ length: 6000 }, (_, step) => 1 / (1 + step / 500));
    const val = [1, 0.8, 0.9, 1.1, 1.3, 1.5];
    const points = [
      ...train.map((value, step) => ({ name: 'train/loss', step, value })),
      ...val.map((value, index) => ({ name: 'val/loss', step: 1000 * index + 999, value })),
    ].map((point, seq) => ({ ...point, seq }));
    for (const [step] of firesAt(points)) expect(step).to.be.within(4999, 5999);
  });

  it('does not fire when the training loss fell before the best evaluation only', () => {
    const train = [1, 0.5, 0.3, 0.31, 0.32, 0.33];
    const val = [1, 0.9, 0.6, 0.8, 1, 1.2];
    const points = [
      ...train.map((_, step) => ['train/loss', train, step] as const),
      ...val.map((_, step) => ['val/loss', val, step] as const),
    ];
    expect(firesAt(arriving(...points))).to.deep.equal([[], [], []]);
  });

  it('does not fire while the validation loss is below 1.5 times its best, or the training loss rises too', () => {
    expect(typesOf({ 'train/loss': training, 'val/loss': [1, 0.9, 0.8, 0.9, 1, 1.1] })).to.deep.equal([]);
    const rising = [1, 0.8, 0.9, 1.1, 1.3, 1.5];
    expect(typesOf({ 'train/loss': rising, 'val/loss': rising })).to.deep.equal([]);
  });

  it('does not fire for losses that are not a pair, for noisy ones, or for negative ones', () => {
    const diverging = [1, 0.8, 0.9, 1.1, 1.3, 1.5];
    expect(typesOf({ 'train/kl_loss': training, 'val/ce_loss': diverging })).to.deep.equal([]);
    const noisy = [1, 0.4, 1.1, 0.5, 0.9, 0.35, 1];
    expect(typesOf({ 'train/loss': [...training, 0.1], 'val/loss': noisy })).to.deep.equal([]);
    const negative = { 'train/loss': [-1, -2, -3, -4, -5], 'val/loss': [-3, -2, -1, -0.5, -0.1] };
    expect(typesOf(negative)).to.deep.equal([]);
  });

  it('does not fire when one evaluation of many is low by chance, and one high; fires when they stay high', () => {
    const falling = Array.from({ length: 60 }, (_, index) => 1 / (1 + index));
    const noisy = Array.from({ length: 56 }, (_, index) => (index === 30 ? 0.2 : 0.5 + 0.02 * (index % 4)));
    const series = (...last: number[]) => ({ 'train/loss': falling, 'val/loss': [...noisy, ...last] });
    expect(typesOf(series(0.9, 0.5, 0.51))).to.deep.equal([]);
    expect(typesOf(series(0.9, 0.92, 0.95))).to.deep.equal(['OVERFITTING_SUSPECTED']);
  });

  it('fires although the best evaluations are long ago', () => {
    const falling = Array.from({ length: 300 }, (_, index) => 1 / (1 + index));
    const rising = Array.from({ length: 300 }, (_, index) => 0.5 + 0.001 * index + 0.01 * (index % 3));
    const [told] = toldOf(pointsOf({ 'train/loss': falling, 'val/loss': rising }));
    expect(told?.finding).to.include({ type: 'OVERFITTING_SUSPECTED' });
    expect(told?.finding.data).to.include({ best: 0.5 });
  });

  it('fires after the configured factor and number of evaluations', () => {
    const series = { 'train/loss': training, 'val/loss': [1, 0.8, 0.9, 1, 1.1, 1.15] };
    expect(typesOf(series, { overfitting: { factor: 1.3 } })).to.deep.equal(['OVERFITTING_SUSPECTED']);
    expect(typesOf(series, { overfitting: { factor: 1.3, min_evaluations: 7 } })).to.deep.equal([]);
  });
});
