import { expect } from 'chai';
import { parseDuration, toAge, toDuration, toNumber, toSize, toTime } from '../src/output/format.js';
import { toSparkline } from '../src/output/sparkline.js';
import { createPaint } from '../src/output/style.js';
import { toFailureWords } from '../src/output/failure-words.js';
import { toFields, toPlainText, toTable, type Column } from '../src/output/table.js';
import { toListening } from '../src/serve.js';

const plain = createPaint({ isTTY: false });

interface Row {
  readonly name: string;
  readonly count: number;
}
const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', cell: (row) => row.name, style: () => 'green' },
  { title: 'COUNT', cell: (row) => String(row.count), align: 'right' },
  { title: 'NOTE', cell: () => '' },
];

describe('text of other users', () => {
  it('keeps neither control characters nor marks of the writing direction', () => {
    expect(toPlainText('a\u202eb\u001b[2Jc')).to.equal('ab [2Jc');
    expect(
      toFailureWords({ failure_message: 'no \u202efile\u0007', failure_reason: null, exit_code: null }),
    ).to.equal('no file ');
  });
});

describe('where the server listens', () => {
  it('is said for other hosts where it listens on all addresses', () => {
    const on = (host: string) => toListening({ host, port: 8600, url: 'http://127.0.0.1:8600' });
    expect(on('127.0.0.1')).to.equal('svc server listens on http://127.0.0.1:8600');
    for (const host of ['0.0.0.0', '::'])
      expect(on(host)).to.match(
        /on all addresses of this host: http:\S+:8600 here, http:\/\/\S+:8600 from other hosts$/,
      );
  });
});

describe('tables', () => {
  it('align every column and leave no space at the end of a line', () => {
    const rows = [
      { name: 'a', count: 1 },
      { name: 'größer', count: 12345678 },
    ];
    expect(toTable(COLUMNS, rows, plain)).to.deep.equal([
      'NAME       COUNT  NOTE',
      'a              1',
      'größer  12345678',
    ]);
  });

  it('colour does not move a column', () => {
    const paint = createPaint({ isTTY: true }, {});
    const rows = [{ name: 'a', count: 1 }];
    const coloured = toTable(COLUMNS, rows, paint);
    expect(coloured.map((line) => line.replace(/\u001b\[\d+m/g, ''))).to.deep.equal(
      toTable(COLUMNS, rows, plain),
    );
    expect(coloured[1]).to.contain('\u001b[32m');
  });

  it('leave out optional columns where not all fit, the last first', () => {
    const columns: readonly Column<Row>[] = [
      { title: 'NAME', cell: (row) => row.name },
      { title: 'COUNT', cell: (row) => String(row.count), optional: true },
      { title: 'AGAIN', cell: (row) => String(row.count), optional: true },
    ];
    const head = (width: number) => toTable(columns, [{ name: 'a', count: 1 }], plain, width)[0];
    expect([18, 17, 11, 10].map(head)).to.deep.equal([
      'NAME  COUNT  AGAIN',
      'NAME  COUNT',
      'NAME  COUNT',
      'NAME',
    ]);
  });

  it('cut a field that may be', () => {
    expect(toFields([['tags', 'x'.repeat(30), 'cut']], plain, 12)).to.deep.equal(['tags  xxxxx…']);
    expect(toFields([['tags', 'x'.repeat(30)]], plain, 12)).to.deep.equal([`tags  ${'x'.repeat(30)}`]);
  });

  it('are cut by what a terminal shows, whatever the script', () => {
    const columns: readonly Column<Row>[] = [
      { title: 'NAME', cell: (row) => row.name, shrinks: true },
      { title: 'COUNT', cell: (row) => String(row.count) },
    ];
    const names = ['训练'.repeat(150), 'e\u0301'.repeat(300), '👩‍🚀'.repeat(150), 'x'.repeat(300), 'short'];
    const lines = toTable(
      columns,
      names.map((name) => ({ name, count: 7 })),
      plain,
      20,
    );
    expect(lines).to.deep.equal([
      'NAME           COUNT',
      '训练训练训练…  7',
      `${'e\u0301'.repeat(12)}…  7`,
      `${'👩‍🚀'.repeat(6)}…  7`,
      'xxxxxxxxxxxx…  7',
      'short          7',
    ]);
  });

  it('do not let a name turn the direction of a line', () => {
    expect(toFields([['name', '\u202eexe.\u2066gpj\u2028שלום']], plain)).to.deep.equal([
      'name  exe.gpj שלום',
    ]);
  });

  it('do not let a name steer the terminal', () => {
    expect(toFields([['name', 'evil\u001b[2Jname\nline']], plain)).to.deep.equal(['name  evil [2Jname line']);
  });
});

describe('colours', () => {
  const isColoured = (isTTY: boolean, env: NodeJS.ProcessEnv) =>
    createPaint({ isTTY }, env)('red', 'x') !== 'x';

  it('are for a terminal alone', () => {
    expect(isColoured(true, {})).to.equal(true);
    expect(isColoured(false, {})).to.equal(false);
  });

  it('honour NO_COLOR and a dumb terminal', () => {
    expect(isColoured(true, { NO_COLOR: '1' })).to.equal(false);
    expect(isColoured(true, { NO_COLOR: '' })).to.equal(true);
    expect(isColoured(true, { TERM: 'dumb' })).to.equal(false);
  });
});

describe('formats', () => {
  it('durations show their two largest units', () => {
    const shown = [0, 999, 4_000, 200_000, 7_500_000, 777_600_000 + 3_600_000, 86_400_000].map(toDuration);
    expect(shown).to.deep.equal(['0s', '0s', '4s', '3m 20s', '2h 5m', '9d 1h', '1d']);
  });

  it('ages never are negative, and what has not happened has none', () => {
    expect(toAge(1_000, 0)).to.equal('0s ago');
    expect(toAge(1_000, 66_000)).to.equal('1m 5s ago');
    expect(toAge(null)).to.equal('-');
    expect(toTime(null)).to.equal('-');
    expect(toTime(new Date(2026, 0, 31, 9, 5, 7).getTime())).to.equal('2026-01-31 09:05:07');
  });

  it('numbers keep five digits and the words of values that JSON cannot write', () => {
    expect([0.123456789, 123456.7, 1e-9, 'NaN' as const].map(toNumber)).to.deep.equal([
      '0.12346',
      '123460',
      '1e-9',
      'NaN',
    ]);
  });

  it('sizes have the unit that fits, and what is not known has none', () => {
    const shown = [0, 1023, 1024, 14_541, 1.5 * 1024 ** 3, 2 ** 53].map(toSize);
    expect(shown).to.deep.equal(['0 B', '1023 B', '1 KiB', '14.2 KiB', '1.5 GiB', '8 PiB']);
    expect(toSize(null)).to.equal('-');
  });

  it('parses a time such as 30d, and nothing else', () => {
    expect(['90s', '15m', '12h', '30d'].map(parseDuration)).to.deep.equal([
      90_000, 900_000, 43_200_000, 2_592_000_000,
    ]);
    expect(['30', '-1d', '1.5h', '1w', ''].map(parseDuration)).to.deep.equal([null, null, null, null, null]);
  });
});

describe('sparklines', () => {
  it('go from the lowest to the highest bar', () => {
    expect(toSparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).to.equal('▁▂▃▄▅▆▇█');
    expect(toSparkline([3, 3], 8)).to.equal('▅▅');
    expect(toSparkline([], 8)).to.equal('');
  });

  it('are never wider than asked, and take every value in', () => {
    const values = Array.from({ length: 1000 }, (_, index) => index);
    expect([...toSparkline(values, 10)]).to.have.length(10);
  });

  it('show where a value is not finite', () => {
    expect(toSparkline([0, 'NaN', 1], 3)).to.equal('▁!█');
  });
});
