import { adam, normal, randomOf } from './network.js';
import { Reports, type Training } from './reports.js';

/** REINFORCE on a bandit: its loss is noise around 0, and its return rises. */
export function policyGradient(seed: number): Training {
  return {
    name: 'policy gradient: a loss around 0',
    run() {
      const random = randomOf(seed);
      const means = [0.1, 0.5, 0.9, 0.3];
      const preferences = means.map(() => 0);
      const reports = new Reports();
      let baseline = 0;
      for (let step = 0; step < 1500; step += 1) {
        const total = preferences.reduce((sum, each) => sum + Math.exp(each), 0);
        const chances = preferences.map((each) => Math.exp(each) / total);
        let rest = random();
        const arm = Math.max(
          0,
          chances.findIndex((chance) => (rest -= chance) <= 0),
        );
        const gain = (means[arm] ?? 0) + 0.5 * normal(random);
        const advantage = gain - baseline;
        reports.log(step, {
          'policy/loss': -Math.log(chances[arm] ?? 1) * advantage,
          'episode/return': gain,
        });
        baseline += 0.05 * advantage;
        chances.forEach((chance, other) => {
          preferences[other] = (preferences[other] ?? 0) + 0.1 * advantage * (Number(other === arm) - chance);
        });
      }
      return reports.points;
    },
  };
}

/** A random walk whose critic learns the values: losses of an actor, a critic, and the entropy. */
export function actorCritic(seed: number): Training {
  return {
    name: 'actor and critic',
    run() {
      const random = randomOf(seed);
      const values = new Float64Array(7);
      const bias = new Float64Array(7);
      const reports = new Reports();
      for (let episode = 0; episode < 800; episode += 1) {
        let [at, actor, critic, moves] = [3, 0, 0, 0];
        while (at > 0 && at < 6 && moves < 200) {
          const right = 1 / (1 + Math.exp(-(bias[at] ?? 0)));
          const goesRight = random() < right;
          const next = at + (goesRight ? 1 : -1);
          const error =
            (next === 6 ? 1 : 0) + (next > 0 && next < 6 ? (values[next] ?? 0) : 0) - (values[at] ?? 0);
          actor += -Math.log(goesRight ? right : 1 - right) * error;
          critic += error * error;
          values[at] = (values[at] ?? 0) + 0.1 * error;
          bias[at] = (bias[at] ?? 0) + 0.1 * error * (Number(goesRight) - right);
          at = next;
          moves += 1;
        }
        reports.log(episode, { 'actor/loss': actor / moves, 'critic/loss': critic / moves });
      }
      return reports.points;
    },
  };
}

/** Q-learning on a ring: the error of each move, squared, falls to almost nothing and comes back with each surprise. */
export function temporalDifference(seed: number): Training {
  return {
    name: 'temporal differences, rare rewards',
    run() {
      const random = randomOf(seed);
      const q = Array.from({ length: 12 }, () => [0, 0]);
      const reports = new Reports();
      let at = 0;
      for (let step = 0; step < 3000; step += 1) {
        const row = q[at] as number[];
        const greedy = (row[0] ?? 0) > (row[1] ?? 0) ? 0 : 1;
        const move = random() < 0.3 ? Math.floor(2 * random()) : greedy;
        const next = (at + (move === 1 ? 1 : 11)) % 12;
        const target = (next === 0 ? 1 : 0) + 0.9 * Math.max(...(q[next] as number[]));
        const error = target - (row[move] ?? 0);
        row[move] = (row[move] ?? 0) + 0.2 * error;
        if (step % 10 === 9) reports.log(step, { 'q/loss': error * error });
        at = next;
      }
      return reports.points;
    },
  };
}

export function matrixFactors(seed: number): Training {
  return {
    name: 'matrix factors, one entry at a time',
    run() {
      const random = randomOf(seed);
      const draw = () => Array.from({ length: 20 }, () => [normal(random), normal(random)]);
      const [left, right] = [draw(), draw()];
      const [u, v] = [draw(), draw()];
      const dot = (a: number[], b: number[]) => (a[0] ?? 0) * (b[0] ?? 0) + (a[1] ?? 0) * (b[1] ?? 0);
      const reports = new Reports();
      for (let step = 0; step < 6000; step += 1) {
        const [i, j] = [Math.floor(20 * random()), Math.floor(20 * random())];
        const [a, b] = [u[i] as number[], v[j] as number[]];
        const error = dot(a, b) - dot(left[i] as number[], right[j] as number[]);
        for (const k of [0, 1]) {
          const before = a[k] ?? 0;
          a[k] = before - 0.05 * error * (b[k] ?? 0);
          b[k] = (b[k] ?? 0) - 0.05 * error * before;
        }
        if (step % 5 === 0) reports.log(step, { loss: error * error });
      }
      return reports.points;
    },
  };
}

/** Expectation maximization: the log-likelihood rises, from far below 0. */
export function mixture(seed: number): Training {
  return {
    name: 'a mixture, by its log-likelihood',
    run() {
      const random = randomOf(seed);
      const data = Array.from({ length: 300 }, () => (random() < 0.4 ? -3 : 2) + 0.7 * normal(random));
      let [low, high, share] = [-0.5, 0.5, 0.5];
      const reports = new Reports();
      for (let step = 0; step < 60; step += 1) {
        const part = (x: number, mean: number, weight: number) => weight * Math.exp(-((x - mean) ** 2) / 2);
        const parts = data.map((x) => [part(x, low, share), part(x, high, 1 - share)] as const);
        const likelihoods = parts.map(([a, b]) => Math.log((a + b) / Math.sqrt(2 * Math.PI)));
        const total = likelihoods.reduce((sum, each) => sum + each, 0);
        reports.log(step, { log_likelihood: total, 'train/loss': -total, elbo_loss: -total / data.length });
        const belongs = parts.map(([a, b]) => a / (a + b));
        const weight = belongs.reduce((sum, each) => sum + each, 0);
        low = data.reduce((sum, x, i) => sum + x * (belongs[i] ?? 0), 0) / weight;
        high = data.reduce((sum, x, i) => sum + x * (1 - (belongs[i] ?? 0)), 0) / (data.length - weight);
        share = weight / data.length;
      }
      return reports.points;
    },
  };
}

/** A generator of one number against a logistic discriminator: two losses that swing. */
export function minimax(seed: number): Training {
  return {
    name: 'generator and discriminator',
    run() {
      const random = randomOf(seed);
      let [mean, weight, bias] = [-2, 0.1, 0];
      const chance = (x: number) => 1 / (1 + Math.exp(-(weight * x + bias)));
      const reports = new Reports();
      for (let step = 0; step < 2000; step += 1) {
        const [real, made] = [1 + normal(random), mean + normal(random)];
        const [r, m] = [chance(real), chance(made)];
        const [d, g] = [-Math.log(r) - Math.log(1 - m), -Math.log(m)];
        reports.log(step, { 'discriminator/loss': d, 'generator/loss': g });
        weight += 0.02 * ((1 - r) * real - m * made) - 0.002 * weight;
        bias += 0.02 * (1 - r - m) - 0.002 * bias;
        mean += 0.02 * (1 - m) * weight;
      }
      return reports.points;
    },
  };
}

/** Which letter follows which: softmax regression on a text. */
export function languageModel(seed: number): Training {
  return {
    name: 'a model of letters',
    run() {
      const random = randomOf(seed);
      const text = 'the quick brown fox jumps over the lazy dog and runs into the deep dark wood '.repeat(4);
      const letters = [...new Set(text)];
      const codes = [...text].map((letter) => letters.indexOf(letter));
      const table = letters.map(() => letters.map(() => 0.1 * normal(random)));
      const reports = new Reports();
      for (let step = 0; step < 1500; step += 1) {
        let loss = 0;
        for (let k = 0; k < 8; k += 1) {
          const at = Math.floor(random() * (codes.length - 1));
          const [row, next] = [table[codes[at] ?? 0] as number[], codes[at + 1] ?? 0];
          const total = row.reduce((sum, each) => sum + Math.exp(each), 0);
          loss -= Math.log(Math.exp(row[next] ?? 0) / total) / 8;
          row.forEach((each, letter) => {
            row[letter] = each - 0.3 * (Math.exp(each) / total - Number(letter === next));
          });
        }
        reports.log(step, { 'lm/loss': loss, 'lm/perplexity': Math.exp(loss) });
      }
      return reports.points;
    },
  };
}

/** A curved valley: steep, then almost flat, over many orders of magnitude. */
export function rosenbrock(seed: number): Training {
  return {
    name: 'a curved valley, Adam',
    run() {
      const random = randomOf(seed);
      const at = Float64Array.from([-1.5 + random(), 2]);
      const optimizer = adam();
      const reports = new Reports();
      for (let step = 0; step < 3000; step += 1) {
        const [x, y] = [at[0] ?? 0, at[1] ?? 0];
        const bend = y - x * x;
        reports.log(step, { loss: (1 - x) ** 2 + 100 * bend * bend });
        optimizer(at, Float64Array.from([-2 * (1 - x) - 400 * x * bend, 200 * bend]), 0.02);
      }
      return reports.points;
    },
  };
}
