import {
  adam,
  descent,
  hinge,
  huber,
  likelihood,
  logistic,
  momentum,
  Network,
  normal,
  randomOf,
  squared,
  type Example,
  type Loss,
  type Optimizer,
  type Random,
} from './network.js';
import {
  actorCritic,
  languageModel,
  matrixFactors,
  minimax,
  mixture,
  policyGradient,
  rosenbrock,
  temporalDifference,
} from './other-trainings.js';
import { Reports, type Training } from './reports.js';

interface Fit {
  readonly data: (random: Random) => Example;
  readonly loss: Loss;
  readonly hidden?: number;
  readonly inputs?: number;
  readonly examples?: number;
  readonly batch?: number;
  readonly steps?: number;
  readonly optimizer?: () => Optimizer;
  readonly rate: number | ((step: number) => number);
  readonly evaluateEvery?: number;
  /** The validation set; a small one is noisy. A new one each time: as many evaluations of generative models. */
  readonly validation?: { readonly examples: number; readonly isNew?: boolean };
  readonly names?: { readonly training: string; readonly validation: string };
  /** The training loss is that of the batch before the step, as trainings report it; or the mean over this many steps. */
  readonly logEvery?: number;
  readonly noise?: number;
}

/** Fits a network to data, as a training script does. */
export function fit(name: string, seed: number, given: Fit): Training {
  const { inputs = 2, hidden = 8, examples = 256, batch = 32, steps = 600, logEvery = 1 } = given;
  const names = given.names ?? { training: 'train/loss', validation: 'val/loss' };
  return {
    name,
    run() {
      const random = randomOf(seed);
      const draw = (count: number) => Array.from({ length: count }, () => given.data(random));
      const training = draw(examples);
      const validation = given.validation ? draw(given.validation.examples) : [];
      const network = new Network(inputs, hidden, random);
      const optimizer = (given.optimizer ?? descent)();
      const reports = new Reports();
      let seen: number[] = [];
      for (let step = 0; step < steps; step += 1) {
        const some =
          batch >= examples
            ? training
            : Array.from({ length: batch }, () => training[Math.floor(random() * examples)] as Example);
        seen.push(network.meanLoss(given.loss, some));
        if ((step + 1) % logEvery === 0) {
          reports.log(step, { [names.training]: seen.reduce((a, b) => a + b, 0) / seen.length });
          seen = [];
        }
        const rate = typeof given.rate === 'number' ? given.rate : given.rate(step);
        optimizer(network.weights, network.gradient(given.loss, some), rate);
        if (given.validation && (step + 1) % (given.evaluateEvery ?? 50) === 0) {
          const held = given.validation.isNew ? draw(given.validation.examples) : validation;
          reports.log(step, { [names.validation]: network.meanLoss(given.loss, held) });
        }
      }
      return reports.points;
    },
  };
}

const wave =
  (noise = 0.1) =>
  (random: Random): Example => {
    const x = [4 * random() - 2, 4 * random() - 2];
    return { x, y: Math.sin(2 * (x[0] ?? 0)) + 0.5 * (x[1] ?? 0) + noise * normal(random) };
  };
const plane =
  (noise = 0.1) =>
  (random: Random): Example => {
    const x = [normal(random), normal(random)];
    return { x, y: 2 * (x[0] ?? 0) - (x[1] ?? 0) + 0.5 + noise * normal(random) };
  };
const classes =
  (gap = 1, flipped = 0) =>
  (random: Random): Example => {
    const side = random() < 0.5 ? 0 : 1;
    const x = [normal(random) + gap * (2 * side - 1), normal(random)];
    return { x, y: random() < flipped ? 1 - side : side };
  };
/** Some examples are far off, so that the loss of a batch has a heavy tail. */
const outliers = (random: Random): Example => {
  const { x, y } = wave(0.05)(random);
  return { x, y: random() < 0.02 ? y + 6 * normal(random) : y };
};

const cosine = (high: number, period: number) => (step: number) =>
  (high / 2) * (1 + Math.cos((Math.PI * (step % period)) / period));
const warmUp = (rate: number, steps: number) => (step: number) => rate * Math.min(1, (step + 1) / steps);
const held = { examples: 128 };

/** Trainings that go well, of different shapes. `round`: with which random numbers; round 0 was there when the thresholds were chosen. */
export function healthyTrainings(round = 0): readonly Training[] {
  const seed = (number: number) => 1000 * round + number;
  return [
    fit('full-batch descent', seed(1), { data: plane(), loss: squared, hidden: 0, batch: 256, rate: 0.05 }),
    fit('exact fit: the loss goes to 0', seed(2), {
      data: plane(0),
      loss: squared,
      hidden: 0,
      batch: 256,
      rate: 0.1,
    }),
    fit('exact fit with batches', seed(3), { data: plane(0), loss: squared, hidden: 0, rate: 0.1 }),
    fit('one example a step', seed(4), { data: plane(0.3), loss: squared, hidden: 0, batch: 1, rate: 0.02 }),
    fit('one example a step, exact', seed(5), {
      data: plane(0),
      loss: squared,
      hidden: 0,
      batch: 1,
      rate: 0.05,
    }),
    fit('a network, small batches', seed(6), {
      data: wave(),
      loss: squared,
      batch: 8,
      rate: 0.05,
      validation: held,
    }),
    fit('a network, momentum', seed(7), {
      data: wave(),
      loss: squared,
      rate: 0.01,
      optimizer: momentum,
      validation: held,
    }),
    fit('a network, Adam', seed(8), {
      data: wave(),
      loss: squared,
      rate: 0.01,
      optimizer: adam,
      validation: held,
    }),
    fit('warm restarts', seed(9), {
      data: wave(),
      loss: squared,
      rate: cosine(0.03, 100),
      optimizer: adam,
      steps: 800,
    }),
    fit('warm restarts, full batch', seed(10), {
      data: wave(0),
      loss: squared,
      batch: 256,
      rate: cosine(0.05, 150),
      optimizer: adam,
      steps: 900,
      validation: held,
    }),
    fit('warm-up', seed(11), { data: wave(), loss: squared, rate: warmUp(0.1, 100), validation: held }),
    fit('step decay', seed(12), {
      data: wave(),
      loss: squared,
      rate: (step) => 0.2 * 0.1 ** Math.floor(step / 200),
    }),
    fit('classes that overlap', seed(13), { data: classes(), loss: logistic, rate: 0.2, validation: held }),
    fit('classes apart: the loss vanishes', seed(14), {
      data: classes(4),
      loss: logistic,
      rate: 0.5,
      batch: 4,
    }),
    fit('classes apart, one at a time', seed(15), {
      data: classes(3),
      loss: logistic,
      rate: 0.3,
      batch: 1,
      steps: 2000,
    }),
    fit('wrong labels', seed(16), {
      data: classes(2, 0.1),
      loss: logistic,
      rate: 0.2,
      validation: held,
      batch: 16,
    }),
    fit('hinge, often exactly 0', seed(17), {
      data: classes(2),
      loss: hinge,
      hidden: 0,
      rate: 0.05,
      batch: 8,
    }),
    fit('hinge, one at a time', seed(18), { data: classes(2), loss: hinge, hidden: 0, rate: 0.05, batch: 1 }),
    fit('outliers, Huber', seed(19), { data: outliers, loss: huber, rate: 0.1, batch: 16, validation: held }),
    fit('outliers, squared', seed(20), {
      data: outliers,
      loss: squared,
      rate: 0.005,
      batch: 64,
      optimizer: adam,
    }),
    fit('negative log-likelihood below 0', seed(21), {
      data: plane(0.05),
      loss: likelihood,
      hidden: 0,
      rate: 1e-4,
      validation: held,
      names: { training: 'train/nll_loss', validation: 'val/nll_loss' },
    }),
    fit('negative log-likelihood, one at a time', seed(22), {
      data: plane(0.05),
      loss: likelihood,
      hidden: 0,
      rate: 5e-5,
      batch: 1,
      steps: 2000,
    }),
    fit('a small validation set', seed(23), {
      data: wave(0.2),
      loss: squared,
      rate: 0.05,
      validation: { examples: 4 },
    }),
    fit('another small validation set each time', seed(24), {
      data: wave(0.2),
      loss: squared,
      rate: 0.05,
      steps: 2000,
      evaluateEvery: 20,
      validation: { examples: 6, isNew: true },
    }),
    fit('evaluation at each step', seed(25), {
      data: classes(1.5),
      loss: logistic,
      rate: 0.1,
      evaluateEvery: 1,
      steps: 400,
      validation: { examples: 16, isNew: true },
    }),
    fit('means over 10 steps, names of Keras', seed(26), {
      data: wave(),
      loss: squared,
      rate: 0.1,
      logEvery: 10,
      evaluateEvery: 10,
      validation: held,
      names: { training: 'loss', validation: 'val_loss' },
    }),
    fit('few points', seed(27), {
      data: wave(),
      loss: squared,
      rate: 0.1,
      steps: 30,
      evaluateEvery: 5,
      validation: held,
    }),
    fit('a wide network, Adam, exact', seed(28), {
      data: wave(0),
      loss: squared,
      hidden: 24,
      rate: 0.02,
      optimizer: adam,
      examples: 64,
      batch: 16,
      steps: 1500,
      validation: held,
    }),
    fit('large batches, long', seed(29), {
      data: classes(1),
      loss: logistic,
      rate: 0.3,
      batch: 128,
      steps: 1500,
      validation: held,
    }),
    fit('a high rate', seed(30), { data: wave(), loss: squared, hidden: 8, batch: 64, rate: 0.15 }),
    policyGradient(seed(31)),
    actorCritic(seed(32)),
    temporalDifference(seed(33)),
    matrixFactors(seed(34)),
    mixture(seed(35)),
    minimax(seed(36)),
    languageModel(seed(37)),
    rosenbrock(seed(38)),
  ];
}

/** Trainings that go wrong, with the event that tells it. */
export const TROUBLED: readonly (Training & { readonly type: string })[] = [
  {
    ...fit('a rate that is too high', 101, {
      data: wave(),
      loss: squared,
      batch: 256,
      hidden: 0,
      rate: 1.5,
      steps: 3000,
    }),
    type: 'LOSS_NAN',
  },
  { ...broken('a rate raised by mistake', 102, 200, 60), type: 'LOSS_SPIKE' },
  { ...broken('a batch of broken data', 103, 300, 0), type: 'LOSS_SPIKE' },
  {
    ...fit('few examples, a wide network', 104, {
      data: classes(0.7),
      loss: logistic,
      hidden: 32,
      examples: 12,
      batch: 12,
      rate: 0.05,
      optimizer: momentum,
      steps: 2000,
      evaluateEvery: 20,
      validation: { examples: 200 },
    }),
    type: 'OVERFITTING_SUSPECTED',
  },
  {
    ...fit('wrong labels, learnt by heart', 105, {
      data: classes(1, 0.3),
      loss: logistic,
      hidden: 32,
      examples: 20,
      batch: 20,
      rate: 0.02,
      optimizer: adam,
      steps: 3000,
      evaluateEvery: 100,
      validation: { examples: 200 },
    }),
    type: 'OVERFITTING_SUSPECTED',
  },
];

/** From one step on the rate is so many times too high, or one batch is wrong by a factor of 100. */
function broken(name: string, seed: number, breaksAt: number, rateFactor: number): Training {
  return {
    name,
    run() {
      const random = randomOf(seed);
      const examples = Array.from({ length: 256 }, () => wave(0.3)(random));
      const network = new Network(2, 8, random);
      const step = descent();
      const reports = new Reports();
      for (let at = 0; at < 600; at += 1) {
        const batch = Array.from({ length: 32 }, () => examples[Math.floor(random() * 256)] as Example);
        const isBroken = rateFactor === 0 && at === breaksAt;
        const used = isBroken ? batch.map(({ x, y }) => ({ x, y: 100 * y })) : batch;
        reports.log(at, { 'train/loss': network.meanLoss(squared, used) });
        step(
          network.weights,
          network.gradient(squared, used),
          at >= breaksAt && rateFactor > 0 ? 0.02 * rateFactor : 0.02,
        );
      }
      return reports.points;
    },
  };
}
