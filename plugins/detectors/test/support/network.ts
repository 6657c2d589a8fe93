import { pseudoRandom } from '../../../../signals/test/pseudo-random.js';

export type Random = () => number;

export const randomOf = (seed: number): Random => pseudoRandom(seed * 7919 + 17);

export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export interface Example {
  readonly x: readonly number[];
  readonly y: number;
}

/** How far an output is from what it should be, and how that changes with the output. */
export interface Loss {
  value(output: number, y: number): number;
  slope(output: number, y: number): number;
}

export const squared: Loss = { value: (o, y) => (o - y) ** 2, slope: (o, y) => 2 * (o - y) };
export const logistic: Loss = {
  value: (o, y) => Math.log1p(Math.exp(-Math.abs(o))) + Math.max(0, o) - o * y,
  slope: (o, y) => 1 / (1 + Math.exp(-o)) - y,
};
export const hinge: Loss = {
  value: (o, y) => Math.max(0, 1 - o * (2 * y - 1)),
  slope: (o, y) => (1 - o * (2 * y - 1) > 0 ? 1 - 2 * y : 0),
};
export const huber: Loss = {
  value: (o, y) => (Math.abs(o - y) < 1 ? (o - y) ** 2 / 2 : Math.abs(o - y) - 0.5),
  slope: (o, y) => Math.max(-1, Math.min(1, o - y)),
};
/** Minus the logarithm of a normal density with a small deviation: negative where the fit is good. */
export const likelihood: Loss = {
  value: (o, y) => (o - y) ** 2 / (2 * 0.05 ** 2) + Math.log(0.05 * Math.sqrt(2 * Math.PI)),
  slope: (o, y) => (o - y) / 0.05 ** 2,
};

/** A network with one hidden layer of tanh, or none, and its gradients by back-propagation. */
export class Network {
  readonly weights: Float64Array;

  constructor(
    private readonly inputs: number,
    private readonly hidden: number,
    random: Random,
    scale = 0.7,
  ) {
    const count = hidden === 0 ? inputs + 1 : hidden * (inputs + 2) + 1;
    this.weights = Float64Array.from({ length: count }, () => scale * normal(random));
  }

  output(x: readonly number[]): number {
    return this.#run(x).output;
  }

  meanLoss(loss: Loss, examples: readonly Example[]): number {
    return examples.reduce((sum, { x, y }) => sum + loss.value(this.output(x), y), 0) / examples.length;
  }

  gradient(loss: Loss, examples: readonly Example[]): Float64Array {
    const total = new Float64Array(this.weights.length);
    for (const { x, y } of examples) this.#addGradient(total, x, (output) => loss.slope(output, y));
    return total.map((each) => each / examples.length);
  }

  #run(x: readonly number[]): { output: number; units: number[] } {
    const w = this.weights;
    const { inputs, hidden } = this;
    if (hidden === 0) {
      const output = x.reduce((sum, value, i) => sum + value * (w[i] ?? 0), w[inputs] ?? 0);
      return { output, units: [] };
    }
    const units = Array.from({ length: hidden }, (_, unit) => {
      const at = unit * (inputs + 1);
      return Math.tanh(x.reduce((sum, value, i) => sum + value * (w[at + i] ?? 0), w[at + inputs] ?? 0));
    });
    const out = hidden * (inputs + 1);
    const output = units.reduce(
      (sum, value, unit) => sum + value * (w[out + unit] ?? 0),
      w[out + hidden] ?? 0,
    );
    return { output, units };
  }

  #addGradient(total: Float64Array, x: readonly number[], slopeAt: (output: number) => number): void {
    const { inputs, hidden, weights } = this;
    const { output, units } = this.#run(x);
    const slope = slopeAt(output);
    const add = (at: number, value: number) => void (total[at] = (total[at] ?? 0) + value);
    if (hidden === 0) {
      x.forEach((value, i) => add(i, slope * value));
      return add(inputs, slope);
    }
    const out = hidden * (inputs + 1);
    units.forEach((value, unit) => {
      add(out + unit, slope * value);
      const back = slope * (weights[out + unit] ?? 0) * (1 - value * value);
      const at = unit * (inputs + 1);
      x.forEach((input, i) => add(at + i, back * input));
      add(at + inputs, back);
    });
    add(out + hidden, slope);
  }
}

/** Changes the weights by one step against the gradient. */
export type Optimizer = (weights: Float64Array, gradient: Float64Array, rate: number) => void;

export const descent = (): Optimizer => (weights, gradient, rate) =>
  gradient.forEach((each, i) => void (weights[i] = (weights[i] ?? 0) - rate * each));

export function momentum(keep = 0.9): Optimizer {
  let speed: Float64Array | null = null;
  return (weights, gradient, rate) => {
    speed ??= new Float64Array(gradient.length);
    for (let i = 0; i < gradient.length; i += 1) {
      speed[i] = keep * (speed[i] ?? 0) + (gradient[i] ?? 0);
      weights[i] = (weights[i] ?? 0) - rate * (speed[i] ?? 0);
    }
  };
}

export function adam(): Optimizer {
  let [first, second, step]: [Float64Array, Float64Array, number] = [
    new Float64Array(),
    new Float64Array(),
    0,
  ];
  return (weights, gradient, rate) => {
    if (step === 0) [first, second] = [new Float64Array(gradient.length), new Float64Array(gradient.length)];
    step += 1;
    for (let i = 0; i < gradient.length; i += 1) {
      const slope = gradient[i] ?? 0;
      first[i] = 0.9 * (first[i] ?? 0) + 0.1 * slope;
      second[i] = 0.999 * (second[i] ?? 0) + 0.001 * slope * slope;
      const mean = (first[i] ?? 0) / (1 - 0.9 ** step);
      const size = Math.sqrt((second[i] ?? 0) / (1 - 0.999 ** step));
      weights[i] = (weights[i] ?? 0) - (rate * mean) / (size + 1e-8);
    }
  };
}
