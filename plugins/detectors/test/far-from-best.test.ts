import { isFarFromBest, isLoss } from '@svc/signals';
import { expect } from 'chai';
import { healthyTrainings } from './support/trainings.js';

/** What it compares with was chosen by round 0 and rounds 11 to 15. */
const ROUNDS = [0, 11, 21, 22, 23, 24];
const PARTS = 10;
const TRAININGS_PER_FALSE_CLAIM = 30;
/** Each gets worse as the other gets better, so both are far from their best. */
const IS_GAME = /^generator and discriminator$/;

describe('far from the best value: trainings that really optimize', function () {
  this.timeout(120_000);

  it(`is said of at most one of ${TRAININGS_PER_FALSE_CLAIM} trainings that go well, at its end and on its way`, () => {
    const trainings = ROUNDS.flatMap((round) => healthyTrainings(round)).filter(
      ({ name }) => !IS_GAME.test(name),
    );
    const all = trainings.flatMap((training) =>
      lossesOf(training.run()).map((values) => [training.name, values] as const),
    );
    for (let part = 1; part <= PARTS; part += 1) {
      const said = all.filter(([, values]) =>
        isFar(values.slice(0, Math.ceil((values.length * part) / PARTS))),
      );
      const names = said.map(([name]) => name).join('; ');
      const most = Math.floor(trainings.length / TRAININGS_PER_FALSE_CLAIM);
      expect(said.length, `after part ${part} of ${PARTS}: ${names}`).to.be.at.most(most);
    }
  });
});

function lossesOf(points: readonly { readonly name: string; readonly value: unknown }[]): number[][] {
  const names = [...new Set(points.map(({ name }) => name))].filter(isLoss);
  return names.map((name) => points.filter((point) => point.name === name).map(({ value }) => Number(value)));
}

function isFar(values: readonly number[]): boolean {
  const finite = values.filter(Number.isFinite);
  const reached = { first: values[0] as number, best: Math.min(...finite), direction: 'minimize' } as const;
  return isFarFromBest(Float64Array.from(values), reached);
}
