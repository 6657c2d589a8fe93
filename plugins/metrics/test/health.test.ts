import { expect } from 'chai';
import { digestOf } from '../src/digest.js';
import { healthOf, medianIntervalMs, type HealthEvidence } from '../src/health.js';
import { plainPoints } from './points.js';

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;

function evidence(more: Partial<HealthEvidence> = {}): HealthEvidence {
  const series = [{ name: 'loss', digest: digestOf(plainPoints([3, 2, 1])) }];
  return {
    status: 'RUNNING',
    now: NOW,
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
  });

  it('puts a NaN before silence, and tells both', () => {
    const series = [{ name: 'loss', digest: digestOf(plainPoints([1, NaN])) }];
    const { status, reasons } = healthOf(evidence({ series, received_at: NOW - 10 * MINUTE }));
    expect(status).to.equal('critical');
    expect(reasons).to.deep.equal([
      'loss is NaN from step 1 on (1 point)',
      'no point for 600 s; before, one came about every 1 s',
    ]);
  });

  it('takes the median of the gaps between moments', () => {
    expect(medianIntervalMs([{ ts: 0 }, { ts: 100 }, { ts: 100 }, { ts: 220 }, { ts: 9000 }])).to.equal(120);
    expect(medianIntervalMs([{ ts: 5 }, { ts: 5 }])).to.equal(null);
  });
});
