import { expect } from 'chai';
import { isLoss, mustBeNumber } from '../src/loss-names.js';
import { lossRole } from '../src/loss-pairs.js';

describe('names of losses', () => {
  it('have the word loss for spikes', () => {
    for (const name of ['loss', 'train/loss', 'Train-Loss', 'loss.total', 'val_loss'])
      expect(isLoss(name), name).to.equal(true);
    for (const name of ['lossless', 'gloss', 'grad_norm', 'acc', 'loss_scale', 'val/nll'])
      expect(isLoss(name), name).to.equal(false);
  });

  it('are many for what must be a number', () => {
    for (const name of [
      'loss',
      'losses',
      'trainloss',
      'train_loss_total',
      'total_losses',
      'loss1',
      'train_loss2',
      'valLoss',
      'nll',
      'val/nll',
      'perplexity',
      'ppl',
      'cross_entropy',
      'train/CrossEntropy',
      'ce',
      'mse',
      'mae',
      'bce',
      'kl',
      'elbo',
    ])
      expect(mustBeNumber(name), name).to.equal(true);
    for (const name of [
      'lossless',
      'loss_scale',
      'best_val_loss',
      'kl_coef',
      'policy/entropy',
      'grad_norm',
      'lr',
      'accuracy',
      'finance',
      'mse_best',
      'place',
      'nan_count',
    ])
      expect(mustBeNumber(name), name).to.equal(false);
  });

  it('tell which are pairs', () => {
    expect(lossRole('train/perplexity')).to.deep.equal({ pair: 'perplexity', data: 'training' });
    expect(lossRole('val/perplexity')).to.deep.equal({ pair: 'perplexity', data: 'validation' });
    expect(lossRole('eval_cross_entropy')).to.deep.equal({ pair: 'cross/entropy', data: 'validation' });
    for (const name of ['val/accuracy', 'elbo', 'val/kl']) expect(lossRole(name), name).to.equal(null);
  });
});
