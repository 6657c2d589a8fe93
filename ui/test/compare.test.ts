import { expect } from 'chai';
import { metricsOf, chooseMetrics } from '../src/compare/chosen-metrics.js';
import { queryOf, runsIn, toList, viewOf, withRuns, withoutRuns } from '../src/compare/compare-view.js';
import { showConfig, toConfigRows } from '../src/compare/config-rows.js';
import { placesOf, stepsWithin } from '../src/compare/run-axes.js';
import { commonStart } from '../src/run-names.js';
import { scaleOf, ticksWithRoom } from '../src/compare/scale.js';
import { toEvaluation, NO_EVALUATION } from '../src/data/evaluation-draft.js';
import { metric, run, summary } from './browser/harness/records.js';

const toSearch = (query: Record<string, string | null>) =>
  new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1])));

describe('the address of a comparison', () => {
  it('says everything that the page shows, and is read back as that', () => {
    const change = {
      places: ['run_1', '', 'run_2'],
      metrics: ['train/loss', 'a, b', '100%', 'ü'],
      hidden: ['run_2'],
      baseline: 'run_1',
      isAllConfig: true,
      sort: 'a, b',
      axes: ['lr', 'x,y'],
      x: 'lr',
      target: '100%',
    };
    const query = toSearch(queryOf(change));
    for (const [name, value] of Object.entries({
      x: 'epoch',
      smooth: '0.6',
      zoom: '0.5..2',
      steps: '-5..200',
    }))
      query.set(name, value);
    const { charts, ...view } = viewOf(query);
    expect(view).to.deep.equal({ ...change, leftOut: 0, steps: [-5, 200] });
    expect(charts).to.deep.include({ x: 'epoch', smoothing: 0.6, range: [0.5, 2] });
  });

  it('keeps what a change does not concern', () => {
    expect(queryOf({ hidden: [], isAllConfig: false, metrics: null })).to.deep.equal({
      hidden: '',
      config: null,
      metrics: null,
    });
  });

  it('names each run once and 50 at most', () => {
    const ids = Array.from({ length: 60 }, (_, at) => `run_${at}`);
    const { places, leftOut } = viewOf(new URLSearchParams({ runs: toList(['', ...ids, 'run_3']) }));
    expect([places.length, places[0], places.at(-1), leftOut]).to.deep.equal([51, '', 'run_49', 10]);
  });

  it('keeps the places of the others when a run is removed, and gives the free one to the next', () => {
    const places = withoutRuns(['run_1', 'run_2', 'run_3', 'run_4'], ['run_2', 'run_4']);
    expect(places).to.deep.equal(['run_1', '', 'run_3']);
    expect(withRuns(places, ['run_5', 'run_6'])).to.deep.equal(['run_1', 'run_5', 'run_3', 'run_6']);
    expect(runsIn(places)).to.deep.equal(['run_1', 'run_3']);
  });

  const odd: [string, string][] = [
    ['steps', '9..3'],
    ['zoom', 'NaN..1'],
    ['smooth', '-1'],
    ['metrics', '%E0%A4%A'],
    ['runs', ',,'],
  ];
  for (const [name, text] of odd) {
    it(`is read without harm when ${name} is ${text}`, () => {
      const { charts, steps, places } = viewOf(new URLSearchParams({ [name]: text }));
      expect([charts.range, charts.smoothing, steps, places]).to.deep.equal([null, 0, null, []]);
    });
  }
});

describe('what names of runs begin with', () => {
  const cases: [string[], string][] = [
    [['resnet-50 lr=0.1 seed=1', 'resnet-50 lr=0.1 seed=2'], 'resnet-50 lr=0.1 '],
    [['resnet-50 lr=0.0001', 'resnet-50 lr=0.0002'], 'resnet-50 '],
    [['vision/sweep_01', 'vision/sweep_02'], 'vision/sweep_'],
    [['run-1', 'run-2'], ''],
    [['one and alone'], ''],
    [['train the net', 'train the net 2'], 'train the '],
    [['experiment-', 'experiment-2'], ''],
    [['ein 😀😀😀😀 a', 'ein 😀😀😀😀 b'], 'ein 😀😀😀😀 '],
    [['alpha', 'beta', ''], ''],
  ];
  for (const [names, start] of cases)
    it(`${JSON.stringify(names)} is ${JSON.stringify(start)}`, () => {
      expect(commonStart(names)).to.equal(start);
    });
});

describe('the axes of several runs', () => {
  const line = (steps: number[], startedAt: number, epochAt = (step: number) => step / 10) => ({
    name: 'loss',
    startedAt,
    epochAt,
    series: { steps, values: steps, ts: steps.map((step) => startedAt + 100 * step), total: steps.length },
  });
  const lines = [line([0, 10, 20], 5_000), line([5, 15, 25], 90_000, (step) => step)];

  it('tell the steps of what is in view, of all together', () => {
    expect(stepsWithin(lines, 'elapsed', [900, 1600])).to.deep.equal([10, 15]);
    expect(stepsWithin(lines, 'epoch', [1, 5])).to.deep.equal([5, 20]);
    expect(stepsWithin(lines, 'epoch', [900, 1000])).to.equal(null);
  });

  it('tell where these steps stand', () => {
    expect(placesOf(lines, 'elapsed', [10, 15])).to.deep.equal([1000, 1500]);
    expect(placesOf(lines, 'epoch', [5, 20])).to.deep.equal([1, 15]);
    expect(placesOf([], 'epoch', [5, 20])).to.equal(null);
  });
});

describe('differences of config', () => {
  it('are the names whose values are not the same in all runs, nested ones too', () => {
    const rows = toConfigRows([
      { lr: 0.1, model: { depth: 18, name: 'resnet' }, tags: [1], same: null },
      { lr: 0.2, model: { depth: 18, name: 'vit' }, tags: [1], same: null, only: {} },
    ]);
    expect(rows.filter(({ isDifferent }) => isDifferent)).to.deep.equal([
      { name: 'lr', values: [0.1, 0.2], isDifferent: true },
      { name: 'model.name', values: ['resnet', 'vit'], isDifferent: true },
      { name: 'only', values: [undefined, {}], isDifferent: true },
    ]);
    expect(rows.map(({ name }) => name)).to.include.members(['model.depth', 'tags', 'same']);
  });

  it('shows a text that looks like a number as that text', () => {
    expect(['0.1', 0.1, true, null, undefined].map(showConfig)).to.deep.equal([
      '0.1',
      '0.1',
      'true',
      'null',
      '–',
    ]);
  });
});

describe('an axis', () => {
  const places = (values: readonly unknown[]) => {
    const scale = scaleOf(values);
    return [scale.kind, ...values.map((value) => scale.place(value))];
  };

  it('places numbers by their value', () => {
    expect(places([0, 5, 10])).to.deep.equal(['linear', 0, 0.5, 1]);
  });

  it('places numbers that span decades by their logarithm', () => {
    const [kind, ...at] = places([0.0001, 0.001, 0.01]);
    expect(kind).to.equal('log');
    expect(at.map((place) => Number((place as number).toFixed(6)))).to.deep.equal([0, 0.5, 1]);
  });

  it('has labels that do not touch, with those of both ends', () => {
    const { ticks } = scaleOf([3.7037e-6, 1.1e-5, 3e-4]);
    const labels = (lengthPx: number) =>
      ticksWithRoom(ticks, lengthPx, (label) => label.length * 6.5).map(({ label }) => label);
    expect(labels(600)).to.deep.equal(['3.704e−6', '1e−5', '1e−4', '3e−4']);
    expect(labels(220)).to.deep.equal(['3.704e−6', '1e−4', '3e−4']);
    expect(labels(90)).to.deep.equal(['3.704e−6', '3e−4']);
  });

  it('does not take a logarithm of what is not above zero', () => {
    expect(places([0, 1000])[0]).to.equal('linear');
    expect(places([-1, 1000])[0]).to.equal('linear');
  });

  it('places texts, switches and mixtures as categories', () => {
    expect(places(['sgd', 'adam', undefined])).to.deep.equal(['category', 1, 0, null]);
    expect(places([true, false])).to.deep.equal(['category', 1, 0]);
    expect(places([1, 'auto'])).to.deep.equal(['category', 0, 1]);
  });

  it('places one value in the middle, and what is no number nowhere', () => {
    expect(places([3, 3])).to.deep.equal(['linear', 0.5, 0.5]);
    expect(places([1, NaN, Infinity, 3])).to.deep.equal(['linear', 0, null, null, 1]);
    expect(places([])).to.deep.equal(['category']);
    expect(places([NaN])).to.deep.equal(['linear', null]);
  });

  it('has labels that stand apart', () => {
    for (const values of [[1e-5, 1], [0, 0.001, 100], Array.from({ length: 400 }, (_, at) => `c${at}`)]) {
      const { ticks } = scaleOf(values);
      expect(ticks.length).to.be.within(2, 13);
      for (const [at, tick] of ticks.entries()) if (at > 0) expect(tick.at).to.be.above(ticks[at - 1]!.at);
    }
  });
});

describe('the metrics of a comparison', () => {
  const one = summary(run(1), {
    zeta: metric({ guessed_from: null }),
    'val/loss': metric(),
    acc: metric({ is_primary: true, direction: 'maximize' }),
  });
  const other = summary(run(2), { 'val/loss': metric(), rare: metric() });

  it('begin with the primary one and the losses; one without a direction has none', () => {
    const metrics = metricsOf([one, other]);
    expect(metrics.map(({ name }) => name)).to.deep.equal(['acc', 'val/loss', 'rare', 'zeta']);
    expect(metrics.at(-1)).to.deep.include({ direction: null, runCount: 1 });
    expect(metrics[1]).to.deep.include({ direction: 'minimize', runCount: 2 });
  });

  it('are those that were chosen and exist', () => {
    const metrics = metricsOf([one, other]);
    expect(chooseMetrics(metrics, ['zeta', 'gone']).map(({ name }) => name)).to.deep.equal(['zeta']);
    expect(chooseMetrics(metrics, [])).to.deep.equal([]);
  });
});

describe('an evaluation that is typed', () => {
  it('sends what was given alone', () => {
    expect(toEvaluation({ ...NO_EVALUATION, command: `python3 eval.py --name 'a b'` })).to.deep.equal({
      body: { command: ['python3', 'eval.py', '--name', 'a b'] },
    });
    const full = { suite: ' heldout ', dataset: 'd', dataset_version: 'v', working_dir: '/w', gpus: '2' };
    expect(toEvaluation({ ...full, command: 'x', env: 'A=1\n\n B=x=y' })).to.deep.equal({
      body: {
        command: ['x'],
        suite: 'heldout',
        dataset: 'd',
        dataset_version: 'v',
        working_dir: '/w',
        resources: { gpu: 2 },
        env: { A: '1', B: 'x=y' },
      },
    });
  });

  const flaws: [string, Partial<typeof NO_EVALUATION>, string][] = [
    ['no command', { command: '  ' }, 'Give the command'],
    ['an open quotation mark', { command: `x 'y` }, 'cannot be read'],
    ['a line that is no variable', { command: 'x', env: 'secret' }, 'NAME=VALUE'],
  ];
  for (const [what, draft, words] of flaws) {
    it(`says what is wrong with ${what}`, () => {
      const read = toEvaluation({ ...NO_EVALUATION, ...draft });
      expect('flaw' in read && read.flaw).to.contain(words);
    });
  }
});
