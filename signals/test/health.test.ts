import { expect } from 'chai';
import { healthOf, healthReasonsOf, medianIntervalMs, type HealthEvidence } from '../src/health.js';

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const OUT_OF_MEMORY = { id: 'evt_1', type: 'OOM', title: 'out of memory', data: {} };

/** Of one value for each step from 0. */
function digestOf(values: readonly number[]): HealthEvidence['series'][number]['digest'] {
  const places = values.map((value, step) => ({ step, value }));
  const firstOf = (wanted: number) => places.find(({ value }) => Object.is(value, wanted)) ?? null;
  return {
    last: places.at(-1) ?? null,
    nan_count: values.filter(Number.isNaN).length,
    nan: firstOf(NaN),
    inf: firstOf(Infinity),
    neg_inf: firstOf(-Infinity),
  };
}

function evidence(more: Partial<HealthEvidence> = {}): HealthEvidence {
  const series = [{ name: 'loss', digest: digestOf([3, 2, 1]), spike: null }];
  return {
    status: 'RUNNING',
    now: NOW,
    stale_since: null,
    received_at: NOW - 1000,
    interval_ms: 1000,
    series,
    critical_events: [],
    ...more,
  };
}

describe('health', () => {
  it('is ok while points come', () => {
    expect(healthOf(evidence())).to.deep.equal({ status: 'ok', reasons: [] });
  });

  it('is stale after 10 usual intervals, and 5 minutes, without a point', () => {
    const statusAfter = (silentMs: number, interval_ms: number | null) =>
      healthOf(evidence({ received_at: NOW - silentMs, interval_ms })).status;
    expect(statusAfter(5 * MINUTE - 1, 1000)).to.equal('ok');
    expect(statusAfter(5 * MINUTE, 1000)).to.equal('stale');
    expect(statusAfter(10 * MINUTE, 2 * MINUTE)).to.equal('ok');
    expect(statusAfter(20 * MINUTE, 2 * MINUTE)).to.equal('stale');
    expect(statusAfter(1000 * MINUTE, null)).to.equal('ok');
  });

  it('is not stale once the run is over, or before its first point', () => {
    expect(healthOf(evidence({ status: 'SUCCEEDED', received_at: 0 })).status).to.equal('ok');
    expect(healthOf(evidence({ received_at: null })).status).to.equal('ok');
    const silent = healthOf(evidence({ stale_since: NOW - 6 * MINUTE, received_at: null }));
    expect(silent).to.deep.equal({ status: 'stale', reasons: ['nothing has come from the run for 360 s'] });
  });

  it('puts a NaN before silence, and tells both', () => {
    const series = [{ name: 'loss', digest: digestOf([1, NaN]), spike: null }];
    const { status, reasons } = healthOf(evidence({ series, received_at: NOW - 10 * MINUTE }));
    expect(status).to.equal('critical');
    expect(reasons).to.deep.equal([
      'loss is NaN from step 1 on (1 point)',
      'no point for 600 s; before, one came about every 1 s',
    ]);
  });

  it('warns of a NaN after which the metric is finite again', () => {
    const healthWith = (...values: number[]) =>
      healthOf(evidence({ series: [{ name: 'loss', digest: digestOf(values), spike: null }] }));
    expect(healthWith(2, NaN, 1)).to.deep.equal({
      status: 'warning',
      reasons: ['loss was NaN at step 1 (1 point), and is finite again'],
    });
    expect(healthWith(NaN, NaN, 1).reasons).to.deep.equal([
      'loss was NaN first at step 0 (2 points), and is finite again',
    ]);
    expect(healthWith(2, NaN, Infinity).status).to.equal('critical');
    const event = { id: 'evt_1', type: 'LOSS_NAN', title: 'loss is NaN', data: { metric: 'loss' } };
    const series = [{ name: 'loss', digest: digestOf([NaN, 1]), spike: null }];
    expect(healthOf(evidence({ series, critical_events: [event] })).status).to.equal('warning');
    const silent = healthOf(evidence({ series, received_at: NOW - 10 * MINUTE }));
    expect(silent.status).to.equal('stale');
    expect(silent.reasons).to.have.length(2);
  });

  it('warns of infinities and of a loss that has jumped, after what is worse', () => {
    const spike = { step: 70, value: 9.24681, median: 0.1 + 0.2 };
    const jumped = { name: 'train/loss', digest: digestOf([0.3, 9.2]), spike };
    const series = [{ name: 'x', digest: digestOf([1, Infinity]), spike: null }, jumped];
    const reasons = [
      'x is Infinity at step 1',
      'train/loss jumped to 9.247 at step 70; before, its median was 0.3',
    ];
    expect(healthOf(evidence({ series }))).to.deep.equal({ status: 'warning', reasons });
    const critical_events = [OUT_OF_MEMORY];
    expect(healthOf(evidence({ series, critical_events }))).to.deep.equal({
      status: 'critical',
      reasons: ['out of memory', ...reasons],
    });
    expect(healthOf(evidence({ series, received_at: NOW - 10 * MINUTE })).status).to.equal('stale');
  });

  it('tells once of a metric that is NaN, and of the event where the metric itself is not', () => {
    const told = (metric: string) => ({
      id: 'evt_1',
      type: 'LOSS_NAN',
      title: `${metric} is NaN`,
      data: { metric },
    });
    const series = [{ name: 'loss', digest: digestOf([1, NaN]), spike: null }];
    const reasonsWith = (metric: string) =>
      healthOf(evidence({ series, critical_events: [told(metric)] })).reasons;
    expect(reasonsWith('loss')).to.deep.equal(['loss is NaN from step 1 on (1 point)']);
    expect(reasonsWith('val/loss')).to.deep.equal([
      'loss is NaN from step 1 on (1 point)',
      'val/loss is NaN',
    ]);
  });

  it('tells once of a loss that is infinite, as critical as its event', () => {
    const event = { id: 'evt_1', type: 'LOSS_NAN', title: 'loss is Infinity', data: { metric: 'loss' } };
    const reasonsWith = (...values: number[]) =>
      healthReasonsOf(
        evidence({
          series: [
            { name: 'loss', digest: digestOf(values), spike: null },
            { name: 'grad', digest: digestOf([Infinity]), spike: null },
          ],
          critical_events: [event],
        }),
      ).map(({ status, message }) => `${status}: ${message}`);
    const ofGradient = 'warning: grad is Infinity at step 0';
    expect(reasonsWith(1, Infinity)).to.deep.equal(['critical: loss is Infinity at step 1', ofGradient]);
    expect(reasonsWith(1, Infinity, NaN)).to.deep.equal([
      'critical: loss is NaN from step 2 on (1 point)',
      'warning: loss is Infinity at step 1',
      ofGradient,
    ]);
    expect(reasonsWith(1, Infinity, 2)).to.deep.equal([
      'warning: loss was Infinity at step 1, and is finite again',
      ofGradient,
    ]);
    expect(reasonsWith(1)).to.deep.equal(['critical: loss is Infinity', ofGradient]);
  });

  it('gives at most 20 reasons, and says how many there are more', () => {
    const digest = digestOf([NaN]);
    const series = Array.from({ length: 500 }, (_, index) => ({ name: `m${index}`, digest, spike: null }));
    const { reasons } = healthOf(evidence({ series }));
    expect(reasons).to.have.length(20);
    expect(reasons[19]).to.equal('m19 is NaN from step 0 on (1 point); 480 more are not listed');
    expect(healthOf(evidence({ series: series.slice(0, 20) })).reasons[19]).not.to.include('more');
  });

  it('takes the median of the gaps between moments', () => {
    expect(medianIntervalMs([{ ts: 0 }, { ts: 100 }, { ts: 100 }, { ts: 220 }, { ts: 9000 }])).to.equal(120);
    expect(medianIntervalMs([{ ts: 5 }, { ts: 5 }])).to.equal(null);
  });

  it('has the evidence of each reason', () => {
    const spike = { step: 70, value: 9, median: 0.3 };
    const series = [
      { name: 'loss', digest: digestOf([1, NaN, -Infinity]), spike },
      { name: 'acc', digest: digestOf([Infinity]), spike: null },
    ];
    const critical_events = [OUT_OF_MEMORY];
    const at = Date.parse('2026-01-31T12:00:00Z');
    const silent = { stale_since: at, now: at + 600_000 };
    const reasons = healthReasonsOf(evidence({ series, critical_events, ...silent }));
    expect(reasons.map(({ kind, status, evidence: cited }) => [kind, status, ...cited])).to.deep.equal([
      ['nan', 'critical', { metric: 'loss', step: 1, value: 'NaN' }],
      ['event', 'critical', { event_id: 'evt_1' }],
      ['silence', 'stale', { field: 'stale_since', value: '2026-01-31T12:00:00.000Z' }],
      ['infinity', 'warning', { metric: 'loss', step: 2, value: '-Infinity' }],
      ['infinity', 'warning', { metric: 'acc', step: 0, value: 'Infinity' }],
      ['spike', 'warning', { metric: 'loss', step: 70, value: 9 }],
    ]);
  });
});
