import { expect } from 'chai';
import {
  assignColors,
  compareNames,
  groupMetrics,
  labelOf,
  measureOf,
  orderGroups,
  phaseOf,
  toSections,
} from '../src/chart/groups.js';

/** `title: name name` for each chart, in the order of the page. */
function charts(names: readonly string[]): string[] {
  return orderGroups(groupMetrics(names), () => false).map(
    ({ title, names: members }) => `${title}: ${members.join(' ')}`,
  );
}

function sections(names: readonly string[]): Record<string, string[]> {
  const found = toSections(
    orderGroups(groupMetrics(names), () => false),
    () => false,
  );
  return Object.fromEntries(found.map(({ title, groups }) => [title, groups.map((group) => group.title)]));
}

const HUGGING_FACE = [
  'eval/loss',
  'eval/runtime',
  'eval/samples_per_second',
  'train/epoch',
  'train/grad_norm',
  'train/learning_rate',
  'train/loss',
];

describe('groupMetrics', () => {
  it('puts the same measure of train and validation together, train first', () => {
    expect(charts(['lr', 'val/loss', 'train/loss', 'val_acc', 'train_acc', 'loss'])).to.deep.equal([
      'loss: train/loss val/loss loss',
      'acc: train_acc val_acc',
      'lr: lr',
    ]);
  });

  it('never puts two measures on one axis', () => {
    expect(charts(['Loss/train', 'Loss/test', 'Accuracy/train'])).to.deep.equal([
      'Loss: Loss/train Loss/test',
      'Accuracy/train: Accuracy/train',
    ]);
    expect(charts(['a/loss', 'b/loss'])).to.deep.equal(['a/loss: a/loss', 'b/loss: b/loss']);
  });

  it('reads the names of Hugging Face', () => {
    expect(charts(HUGGING_FACE)).to.deep.equal([
      'loss: train/loss eval/loss',
      'eval/runtime: eval/runtime',
      'eval/samples_per_second: eval/samples_per_second',
      'train/epoch: train/epoch',
      'train/grad_norm: train/grad_norm',
      'train/learning_rate: train/learning_rate',
    ]);
  });

  it('reads the names of Lightning', () => {
    const names = ['epoch', 'train_loss_epoch', 'train_loss_step', 'val_loss', 'lr-Adam', 'val_acc_epoch'];
    expect(charts(names)).to.deep.equal([
      'loss: train_loss_epoch train_loss_step val_loss',
      'epoch: epoch',
      'lr-Adam: lr-Adam',
      'val_acc_epoch: val_acc_epoch',
    ]);
  });

  it('reads the names of Keras', () => {
    expect(charts(['accuracy', 'loss', 'val_accuracy', 'val_loss'])).to.deep.equal([
      'loss: val_loss loss',
      'accuracy: val_accuracy accuracy',
    ]);
    expect(charts(['train/epoch_loss', 'validation/epoch_loss'])).to.deep.equal([
      'epoch_loss: train/epoch_loss validation/epoch_loss',
    ]);
  });

  it('never puts two units on one axis', () => {
    const of = (units: Record<string, string>) =>
      groupMetrics(['train/acc', 'val/acc', 'test/acc'], new Map(Object.entries(units))).map(
        ({ title, names }) => `${title}: ${names.join(' ')}`,
      );
    expect(of({ 'train/acc': '%', 'val/acc': '%', 'test/acc': '%' })).to.deep.equal([
      'acc: train/acc val/acc test/acc',
    ]);
    expect(of({ 'val/acc': '%' })).to.deep.equal(['acc, no unit: train/acc test/acc', 'val/acc: val/acc']);
    expect(of({ 'val/acc': '%', 'test/acc': '%' })).to.deep.equal([
      'train/acc: train/acc',
      'acc, %: val/acc test/acc',
    ]);
  });

  it('gives each metric a chart of its own where one would be a tangle, and loses none', () => {
    const names = ['train', 'val', 'test', 'dev', 'eval', 'valid', 'validation'].map((word) => `${word}/f1`);
    const groups = groupMetrics(names);
    expect(groups.map(({ title }) => title)).to.deep.equal(names);
    expect(groups.flatMap((group) => group.names)).to.deep.equal(names);
  });
});

describe('toSections', () => {
  it('is by prefix, with what several prefixes share, and what would be alone, before them', () => {
    expect(sections([...HUGGING_FACE, 'system/cpu', 'seed'])).to.deep.equal({
      '': ['loss', 'seed', 'system/cpu'],
      train: ['train/epoch', 'train/grad_norm', 'train/learning_rate'],
      eval: ['eval/runtime', 'eval/samples_per_second'],
    });
  });

  it('has no section for a measure that has its data behind the slash', () => {
    expect(sections(['Loss/train', 'Loss/test', 'Accuracy/train'])).to.deep.equal({
      '': ['Loss', 'Accuracy/train'],
    });
  });

  it('sorts numbers in names as numbers', () => {
    const names = [10, 9, 2, 1].flatMap((layer) => [`layer${layer}/w12`, `layer${layer}/w3`]);
    expect(Object.keys(sections(names))).to.deep.equal(['layer1', 'layer2', 'layer9', 'layer10']);
    expect(sections(names)['layer10']).to.deep.equal(['layer10/w3', 'layer10/w12']);
  });

  it('begins with the section of the most telling chart', () => {
    const names = ['lr', 'acc', 'train/loss', 'train/norm', 'val/f1', 'val/iou'];
    expect(Object.keys(sections(names))).to.deep.equal(['train', '', 'val']);
  });

  it('keeps the parts of one measure of several phases together', () => {
    expect(sections(['train/top/f1', 'val/top/f1', 'train/top/loss', 'val/top/loss'])).to.deep.equal({
      top: ['top/f1', 'top/loss'],
    });
  });
});

describe('orderGroups', () => {
  const titles = (isPrimary: (name: string) => boolean): string[] =>
    orderGroups(groupMetrics(['a', 'lr', 'train/acc', 'val/acc', 'val/loss']), isPrimary).map(
      ({ title }) => title,
    );

  it('puts the loss first, then what is measured in phases, then the rest', () => {
    expect(titles(() => false)).to.deep.equal(['val/loss', 'acc', 'a', 'lr']);
  });

  it('puts the primary metric before all', () => {
    expect(titles((name) => name === 'lr')).to.deep.equal(['lr', 'val/loss', 'acc', 'a']);
  });
});

describe('measureOf', () => {
  it('is the name without the word for the data', () => {
    const names = [
      'val/f1_macro',
      'val_f1_macro',
      'eval-loss',
      'a/b/train.loss',
      'loss_val',
      'valLoss',
      'Loss/test',
    ];
    expect(names.map((name) => measureOf(name))).to.deep.equal([
      'f1_macro',
      'f1_macro',
      'loss',
      'a/b/loss',
      'loss',
      'loss',
      'Loss',
    ]);
  });

  it('is the whole name where nothing else would be left', () => {
    expect(['train/', 'train', 'test_', '/', 'val/train'].map((name) => measureOf(name))).to.deep.equal([
      'train/',
      'train',
      'test_',
      '/',
      'val/train',
    ]);
  });
});

describe('labelOf', () => {
  it('is what the title does not say', () => {
    const names = ['train/loss', 'train_loss_step', 'loss_val', 'loss', 'Loss/test', 'a.train/b.loss'];
    expect(names.map((name) => labelOf(name, 'loss'))).to.deep.equal([
      'train',
      'train step',
      'val',
      'loss',
      'Loss/test',
      'a train b',
    ]);
  });
});

describe('phaseOf', () => {
  it('is told by a whole word', () => {
    expect(['train/loss', 'restrain', 'evalLoss', 'dev_acc', 'test'].map(phaseOf)).to.deep.equal([
      'train',
      null,
      'val',
      'val',
      'test',
    ]);
  });
});

describe('compareNames', () => {
  it('has an order for every two names', () => {
    expect(['b10', 'b2', 'B2', 'a', 'b02'].sort(compareNames)).to.deep.equal(['a', 'b02', 'b2', 'B2', 'b10']);
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
