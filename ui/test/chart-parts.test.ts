import { expect } from 'chai';
import { envelopesOf, sortByX } from '../src/chart/align.js';
import { rowAfter, zoomBy } from '../src/chart/chart-keys.js';
import { labelsOf, toPlotLine, toPlotMark, type ChartLine } from '../src/chart/chart-lines.js';
import { toCsv, toFileName } from '../src/chart/csv.js';
import { marksOf, pointOfEvent } from '../src/components/chart-marks.js';
import { readView, writeRange } from '../src/components/chart-view.js';
import { systemChartsOf } from '../src/components/system-charts.js';
import { event, node } from './browser/harness/records.js';

const line = (steps: number[], values: number[], more: Partial<ChartLine> = {}): ChartLine => ({
  name: 'loss',
  series: { steps, values, ts: steps.map((step) => 1000 + step * 10), total: steps.length },
  ...more,
});

describe('toPlotLine', () => {
  it('stands on the x axis that is asked for', () => {
    const xs = (kind: 'step' | 'epoch' | 'time' | 'elapsed') =>
      toPlotLine({ ...line([0, 10], [1, 2]), epochAt: (step) => step / 10 }, kind).xs;
    expect([xs('step'), xs('epoch'), xs('time'), xs('elapsed')]).to.deep.equal([
      [0, 10],
      [0, 1],
      [1000, 1100],
      [0, 100],
    ]);
  });

  it('is by time also where steps went back', () => {
    const series = { steps: [0, 1, 2], values: [7, 8, 9], ts: [30, 10, 20], total: 3 };
    expect(toPlotLine({ name: 'loss', series }, 'time')).to.deep.include({
      xs: [10, 20, 30],
      values: [8, 9, 7],
    });
  });

  it('marks the best point where the line has it', () => {
    const best = (step: number, value: number) =>
      toPlotLine(line([0, 5, 5, 9], [3, 2, 1, 4], { best: { step, value } }), 'time').best;
    expect(best(5, 1)).to.deep.equal({ x: 1050, value: 1 });
    expect(best(5, 0.5)).to.equal(null);
  });

  it('is thinned when the server has more points', () => {
    const thinned = line([0, 1], [1, 2]);
    expect(toPlotLine(thinned, 'step').isThinned).to.equal(false);
    expect(toPlotLine({ ...thinned, series: { ...thinned.series, total: 9 } }, 'step').isThinned).to.equal(
      true,
    );
  });
});

describe('toPlotMark', () => {
  it('is where the lines have that step', () => {
    const mark = { step: 4, ts: null, tone: 'info', label: '' } as const;
    expect(toPlotMark(mark, [line([0, 5], [1, 1])], 'step')?.x).to.equal(4);
    expect(toPlotMark(mark, [line([0, 5], [1, 1])], 'time')?.x).to.equal(1050);
    expect(toPlotMark(mark, [line([], [])], 'time')).to.equal(null);
  });
});

describe('envelopesOf', () => {
  it('holds every value, a spike too, and breaks where the line does', () => {
    const [first, second, ...rest] = envelopesOf([1, 2, undefined, 99, 1, null, 5, 6, 4]);
    expect(first).to.deep.equal({ rows: [0, 1, 3, 4], low: [1, 1, 1, 1], high: [2, 99, 99, 99] });
    expect(second).to.deep.equal({ rows: [6, 7, 8], low: [5, 4, 4], high: [6, 6, 6] });
    expect(rest).to.deep.equal([]);
  });
});

describe('sortByX', () => {
  it('keeps points of one place in their order', () => {
    expect(sortByX({ xs: [2, 1, 2], values: [1, 2, 3] })).to.deep.equal({ xs: [1, 2, 2], values: [2, 1, 3] });
  });
});

describe('the keys of a plot', () => {
  const xs = [0, 10, 20, 30];

  it('move within the points in view', () => {
    expect(rowAfter(xs, [5, 25], null, 1)).to.equal(1);
    expect(rowAfter(xs, [5, 25], null, -1)).to.equal(2);
    expect(rowAfter(xs, [5, 25], 1, 10)).to.equal(2);
    expect(rowAfter(xs, [0, 30], 2, -Infinity)).to.equal(0);
    expect(rowAfter(xs, [11, 19], null, 1)).to.equal(null);
  });

  it('zoom around the cursor, and out to everything', () => {
    expect(zoomBy(xs, [0, 30], 10, 0.5)).to.deep.equal([5, 20]);
    expect(zoomBy(xs, [5, 20], 10, 2)).to.equal(null);
    expect(zoomBy(xs, [10, 20], 10, 2)).to.deep.equal([10, 30]);
  });
});

describe('labelsOf', () => {
  it('never calls two lines the same', () => {
    const of = (...names: string[]) =>
      labelsOf(
        names.map((name) => line([], [], { name })),
        'loss',
      );
    expect(of('train/loss', 'val/loss')).to.deep.equal(['train', 'val']);
    expect(of('train/loss', 'train_loss', 'val/loss')).to.deep.equal(['train/loss', 'train_loss', 'val']);
    expect(of('loss')).to.deep.equal(['loss']);
  });
});

describe('a file of a chart', () => {
  it('is CSV with names that no spreadsheet runs', () => {
    const lines = [line([1, 2], [0.5, NaN], { name: '=cmd("a,b")' })];
    expect(toCsv(lines)).to.equal(
      'name,step,value,ts\n"\'=cmd(""a,b"")",1,0.5,1010\n"\'=cmd(""a,b"")",2,NaN,1020\n',
    );
  });

  it('has a name for every file system', () => {
    expect([
      toFileName('train/loss', 'png'),
      toFileName('../..', 'csv'),
      toFileName('Verlust €', 'csv'),
    ]).to.deep.equal(['train-loss.png', 'chart.csv', 'Verlust.csv']);
  });
});

describe('the view in the address', () => {
  const read = (query: string) => readView(new URLSearchParams(query));

  it('is read back as it was written', () => {
    const view = read(
      `smooth=0.6&scale=log&x=time&zoom=${writeRange([-5, 1.5e12])}&search=a/b&chart=loss&metric=a&step=7`,
    );
    expect(view).to.deep.equal({
      smoothing: 0.6,
      isLog: true,
      x: 'time',
      range: [-5, 1.5e12],
      search: 'a/b',
      full: 'loss',
      point: { metric: 'a', step: 7 },
    });
  });

  it('is the usual one for text that makes no sense', () => {
    const usual = read('');
    for (const query of [
      'smooth=x',
      'smooth=-1',
      'x=elapsed',
      'zoom=5',
      'zoom=9..1',
      'zoom=1..2..3',
      'zoom=..3',
      'step=5',
    ])
      expect(read(query), query).to.deep.equal(usual);
    expect(read('smooth=7').smoothing).to.equal(0.99);
  });
});

describe('what has happened', () => {
  const spike = event(1, {
    type: 'LOSS_SPIKE',
    severity: 'warning',
    title: 'jumped',
    data: { metric: 'loss', step: 30 },
  });

  it('stands in the chart of its metric, or in all', () => {
    const custom = event(2, { data: { step: 10 } });
    const saved = event(3, { type: 'CHECKPOINT_CREATED', data: { step: 10 } });
    const steps = (...names: string[]) =>
      marksOf([spike, custom, saved], null, names).map(({ step }) => step);
    expect([steps('loss'), steps('acc')]).to.deep.equal([[10, 30], [10]]);
  });

  it('is with the point of the address, once', () => {
    const labels = (step: number) =>
      marksOf([spike], { metric: 'loss', step }, ['loss']).map(({ label }) => label);
    expect([labels(30), labels(1500)]).to.deep.equal([['jumped'], ['jumped', 'loss at step 1,500']]);
  });

  it('has no place without a step', () => {
    expect(pointOfEvent({ data: { metric: 'loss' } })).to.equal(null);
    expect(pointOfEvent({ data: { step: 'x' } })).to.equal(null);
  });
});

describe('systemChartsOf', () => {
  const names = (slots: number[] | null) =>
    systemChartsOf({ node: node(1), slots }).map(({ lines }) => lines.map(({ name }) => name));

  it('has the slots of the run and the node', () => {
    expect(names([1])).to.deep.equal([
      ['gpu.1.util'],
      ['gpu.1.mem_used_mb'],
      ['gpu.1.temp_c'],
      ['gpu.1.power_w'],
      ['cpu.util'],
      ['ram.used_mb'],
    ]);
  });

  it('has the node alone for a run without a slot, and every slot where nobody knows them', () => {
    expect(names([])).to.deep.equal([['cpu.util'], ['ram.used_mb']]);
    expect(names(null)[0]).to.deep.equal(['gpu.0.util', 'gpu.1.util']);
  });
});
