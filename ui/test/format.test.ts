import { expect } from 'chai';
import {
  formatAge,
  formatBytes,
  formatDuration,
  formatMegabytes,
  formatTick,
  formatTicks,
  formatValue,
  isolated,
  plural,
  splitPath,
} from '../src/format.js';

describe('isolated', () => {
  it('ends what a name turns at the end of the name, and changes no other', () => {
    expect(isolated('a\u202eb')).to.equal('\u2068a\u202eb\u2069');
    expect(isolated('<b> שלום')).to.equal('<b> שלום');
  });
});

describe('formatDuration', () => {
  it('shows two units at most and is never negative', () => {
    expect([-5, 0, 4200, 187_000, 7_500_000, 273_600_000].map(formatDuration)).to.deep.equal([
      '0s',
      '0s',
      '4s',
      '3m 07s',
      '2h 05m',
      '3d 4h',
    ]);
  });
});

describe('formatAge', () => {
  it('says how long ago', () => {
    expect([-100, 4000, 12_000, 300_000, 7_200_000, 200_000_000].map(formatAge)).to.deep.equal([
      'now',
      'now',
      '12s ago',
      '5m ago',
      '2h ago',
      '2d ago',
    ]);
  });
});

describe('formatValue', () => {
  it('keeps small values visible and says NaN and infinities', () => {
    const values = [0, 0.31, 0.000012345, 1234.56, -2.5, 12_345_678, 42, NaN, Infinity, -Infinity];
    expect(values.map(formatValue)).to.deep.equal([
      '0',
      '0.31',
      '1.234e−5',
      '1,234.6',
      '−2.5',
      '1.235e7',
      '42',
      'NaN',
      '∞',
      '−∞',
    ]);
  });
});

describe('formatTicks', () => {
  it('has as many digits as it takes to tell the labels apart', () => {
    expect(formatTicks([0.0102, 0.0104, 0.0106, null])).to.deep.equal(['0.0102', '0.0104', '0.0106', '']);
    expect(formatTicks([0.0095, 0.01, 0.0105, 0.011])).to.deep.equal(['0.0095', '0.01', '0.0105', '0.011']);
    expect(formatTicks([1_000_000, 1_000_100])).to.deep.equal(['1M', '1.0001M']);
    expect(formatTicks([0, 0.5, 1])).to.deep.equal(['0', '0.5', '1']);
    expect(formatTicks([0.0005, 0.001, 0.0015])).to.deep.equal(['5e−4', '0.001', '0.0015']);
  });
});

describe('formatTick', () => {
  it('has no digits that are errors of the arithmetic, and none too many', () => {
    expect(
      [9.9999999999999e-5, 0.30000000000000004, 1.23456789e-7, 3e12 / 7].map((value) => formatTick(value)),
    ).to.deep.equal(['1e−4', '0.3', '1.235e−7', '4.286e11']);
  });

  it('is short', () => {
    expect([0, 0.25, 1500, 12_000, 2_500_000, 1e-5, -20_000].map((value) => formatTick(value))).to.deep.equal(
      ['0', '0.25', '1500', '12k', '2.5M', '1e−5', '−20k'],
    );
  });
});

describe('formatBytes', () => {
  it('has the unit that fits', () => {
    const sizes = [
      0,
      1,
      1023,
      1024,
      14_541,
      1024 ** 2 - 1,
      1024 ** 2,
      1.5 * 1024 ** 3,
      980 * 1024 ** 4,
      2 ** 53,
    ];
    expect(sizes.map(formatBytes)).to.deep.equal([
      '0 B',
      '1 B',
      '1023 B',
      '1 KiB',
      '14.2 KiB',
      '1024 KiB',
      '1 MiB',
      '1.5 GiB',
      '980 TiB',
      '8 PiB',
    ]);
  });
});

describe('splitPath', () => {
  it('parts the last name from its folder, and loses nothing', () => {
    expect(['/out/checkpoint-5', '/out/checkpoint-5/', '/a', '/', 'a', ''].map(splitPath)).to.deep.equal([
      ['/out/', 'checkpoint-5'],
      ['/out/', 'checkpoint-5/'],
      ['/', 'a'],
      ['/', ''],
      ['', 'a'],
      ['', ''],
    ]);
  });
});

describe('small words', () => {
  it('count', () => {
    expect([plural(1, 'job'), plural(0, 'job'), plural(12_000, 'line')]).to.deep.equal([
      '1 job',
      '0 jobs',
      '12,000 lines',
    ]);
    expect([formatMegabytes(512), formatMegabytes(81_559)]).to.deep.equal(['512 MiB', '79.6 GiB']);
  });
});
