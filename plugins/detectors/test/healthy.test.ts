import { expect } from 'chai';
import { healthyTrainings, TROUBLED } from './support/trainings.js';
import { toldOf } from './support/watch.js';

/** One warning may be wrong in so many trainings. */
const TRAININGS_PER_FALSE_WARNING = 30;
/** Round 0 was there when the thresholds were chosen, and 1 to 10 when they were corrected. Nothing was chosen by 11 and later ones. */
const ROUNDS = [0, 11, 12, 13];

describe('detectors: trainings that really optimize', function () {
  this.timeout(120_000);

  it(`tell nothing critical of trainings that go well, and at most one warning in ${TRAININGS_PER_FALSE_WARNING}`, () => {
    const trainings = ROUNDS.flatMap((round) => healthyTrainings(round));
    const told = trainings.flatMap((training) =>
      toldOf(training.run()).map(({ finding }) => ({ training: training.name, ...finding })),
    );
    expect(told.filter(({ severity }) => severity === 'critical')).to.deep.equal([]);
    const false_alarms = told.map(({ training, type }) => `${training}: ${type}`);
    expect(false_alarms.length, false_alarms.join('; ')).to.be.at.most(
      Math.floor(trainings.length / TRAININGS_PER_FALSE_WARNING),
    );
  });

  for (const training of TROUBLED) {
    const { name, type } = training;
    it(`tell ${type} of one that goes wrong: ${name}`, () => {
      const told = toldOf(training.run()).map(({ finding }) => finding.type);
      expect(told.filter((each) => each === type)).to.deep.equal([type]);
    });
  }

  it('tell a spike where it is, and once although it lasts', () => {
    const spiking = TROUBLED.find(({ name }) => name === 'a batch of broken data');
    const [spike] = toldOf(spiking?.run() ?? []).filter(({ finding }) => finding.type === 'LOSS_SPIKE');
    expect(spike?.finding.data).to.include({ metric: 'train/loss', step: 300 });
  });

  it('tell the same whatever the size of the batches in which points come', () => {
    for (const training of TROUBLED) {
      const points = training.run();
      const typesOf = (batch: number) =>
        new Set(toldOf(points, {}, batch).map(({ finding }) => finding.type));
      expect([...typesOf(1)], training.name).to.deep.equal([...typesOf(100)]);
    }
  });

  it('tell nothing new when points come twice or late, and nothing of a training that goes back', () => {
    const points = healthyTrainings()[0]?.run() ?? [];
    const late = points.slice(0, 20);
    expect(toldOf([...points, ...late, ...points.slice(-5)])).to.deep.equal([]);
    const resumed = points
      .slice(300)
      .map((point, index) => ({ ...point, seq: points.length + index, step: 300 + index }));
    expect(toldOf([...points, ...resumed])).to.deep.equal([]);
  });
});
