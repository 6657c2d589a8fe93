import { guessDirection, isDirectionKnown } from '@svc/contract';
import { expect } from 'chai';

describe('the direction guessed from the name of a metric', () => {
  const cases: [name: string, direction: string, guessed_from: string | null][] = [
    ['acc', 'maximize', 'acc'],
    ['Eval/F1', 'maximize', 'f1'],
    ['win_rate', 'maximize', 'win_rate'],
    ['tokens_per_second', 'maximize', 'per_second'],
    ['train/loss', 'minimize', 'loss'],
    ['val.cross_entropy-2', 'minimize', 'cross_entropy'],
    ['dice_loss', 'minimize', 'loss'],
    ['loss/accuracy', 'maximize', 'accuracy'],
    ['psi', 'minimize', null],
    ['learning_rate', 'minimize', null],
    ['accuracies', 'minimize', null],
    ['', 'minimize', null],
  ];
  for (const [name, direction, guessed_from] of cases) {
    it(`"${name}": ${direction}, from ${guessed_from ?? 'nothing'}`, () => {
      expect(guessDirection(name)).to.deep.equal({ direction, guessed_from });
    });
  }

  it('is unknown when it is guessed from nothing', () => {
    const known = (guessed: boolean, guessed_from: string | null) =>
      isDirectionKnown({ guessed, guessed_from });
    expect([known(true, null), known(true, 'acc'), known(false, null)]).to.deep.equal([false, true, true]);
  });
});
