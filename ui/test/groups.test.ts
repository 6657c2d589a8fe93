import { expect } from 'chai';
import { assignColors, groupMetrics, measureOf, orderGroups } from '../src/chart/groups.js';

describe('groupMetrics', () => {
  it('puts phases of one measure together, train first', () => {
    expect(groupMetrics(['lr', 'val/loss', 'train/loss', 'val_acc', 'train_acc', 'loss'])).to.deep.equal([
      { title: 'lr', names: ['lr'] },
      { title: 'loss', names: ['train/loss', 'val/loss', 'loss'] },
      { title: 'acc', names: ['train_acc', 'val_acc'] },
    ]);
  });

  it('splits what would be a tangle, and loses no metric', () => {
    const names = Array.from({ length: 40 }, (_, layer) => `layer${layer % 8}/block${layer >> 3}/grad_norm`);
    const groups = groupMetrics(names);
    expect(groups.flatMap((group) => group.names).sort()).to.deep.equal([...names].sort());
    expect(Math.max(...groups.map((group) => group.names.length))).to.be.at.most(6);
    expect(new Set(groups.map((group) => group.title)).size).to.equal(groups.length);
  });
});

describe('orderGroups', () => {
  const titles = (isPrimary: (name: string) => boolean): string[] =>
    orderGroups(groupMetrics(['a', 'lr', 'train/acc', 'val/acc', 'val/loss']), isPrimary).map(
      ({ title }) => title,
    );

  it('puts the loss first, then what is measured in phases, then the rest', () => {
    expect(titles(() => false)).to.deep.equal(['loss', 'acc', 'a', 'lr']);
  });

  it('puts the primary metric before all', () => {
    expect(titles((name) => name === 'lr')).to.deep.equal(['lr', 'loss', 'acc', 'a']);
  });
});

describe('measureOf', () => {
  it('is the last part without the phase', () => {
    expect(
      ['val/f1_macro', 'val_f1_macro', 'eval-loss', 'a/b/train.loss', 'train/', 'test_'].map(measureOf),
    ).to.deep.equal(['f1_macro', 'f1_macro', 'loss', 'loss', 'train/', 'test_']);
  });
});

describe('assignColors', () => {
  it('gives a phase its own colour in every chart', () => {
    expect(assignColors(['val/loss'])).to.deep.equal([2]);
    expect(assignColors(['train/loss', 'val/loss', 'test/loss', 'loss'])).to.deep.equal([1, 2, 3, 4]);
  });

  it('never gives one colour twice while there are free ones', () => {
    const colors = assignColors(['x', 'val/a', 'val/b', 'y', 'z', 'train/a']);
    expect(new Set(colors).size).to.equal(colors.length);
  });
});
