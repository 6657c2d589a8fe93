import { guessDirection } from '@svc/contract/protocol';
import { expect } from 'chai';
import { arrange } from '../src/table/arrange.js';
import { columnId, defaultColumns, joinList, splitList, toColumn } from '../src/table/columns.js';
import { toQuery, toView } from '../src/table/run-table-view.js';
import { definition } from './browser/harness/records.js';

describe('the columns of the table of runs', () => {
  for (const id of ['status', 'config:model.layers', 'last:train/loss', 'best:a:b', 'config:a\nb']) {
    it(`are written and read again: ${JSON.stringify(id)}`, () => {
      expect(columnId(toColumn(id)!)).to.equal(id);
    });
  }
  for (const id of ['', 'nothing', 'last:', 'worst:loss', 'Status'])
    it(`are no column: ${JSON.stringify(id)}`, () => expect(toColumn(id)).to.equal(null));

  const define = (name: string, is_primary = false) =>
    definition(name, { ...guessDirection(name), is_primary });
  const ids = (...definitions: Parameters<typeof defaultColumns>[0]) =>
    defaultColumns(definitions).map(columnId);
  it('have the primary metric at first, where there is one', () => {
    const columns = ids(define('val/loss'), define('acc', true));
    expect(columns.filter((id) => id.includes(':'))).to.deep.equal(['last:acc', 'best:acc']);
  });
  const usual: [string, string[], string[]][] = [
    ['the loss of the validation', ['acc', 'train/loss', 'val/loss'], ['best:val/loss']],
    ['the first one whose good values are known', ['lr', 'acc', 'f1'], ['best:acc']],
    ['none of which nobody knows which values are good', ['lr'], []],
  ];
  for (const [what, names, wanted] of usual)
    it(`have ${what} while none is primary`, () => {
      expect(ids(...names.map((name) => define(name))).filter((id) => id.includes(':'))).to.deep.equal(
        wanted,
      );
    });
  it('have what tells runs apart before where they belong, which may be wide', () => {
    expect(ids(define('acc')).slice(0, 5)).to.deep.equal([
      'status',
      'progress',
      'best:acc',
      'created',
      'duration',
    ]);
  });

  for (const list of [[], ['a'], ['a,b', 'c\\', '\\,'], ['config:x,y', 'last:a/b']])
    it(`are one value of an address: ${JSON.stringify(list)}`, () =>
      expect(splitList(joinList(list))).to.deep.equal(list));
});

describe('the state of the page of runs', () => {
  for (const address of [
    '',
    'status=FAILED&job_id=job_1&q=a+b&tags=x%2Cy&columns=status%2Cconfig%3Alr&sort=-best%3Aloss&group=config%3Alr&closed=1%2C2&selected=run_1',
    'sort=name&group=tags',
  ]) {
    it(`is read from its address and written again: ${address}`, () => {
      const query = toQuery(toView(new URLSearchParams(address)));
      const written = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
      expect(new URLSearchParams(written).toString()).to.equal(address);
    });
  }
  it('ignores what it does not know', () => {
    const view = toView(new URLSearchParams('sort=nothing&group=last:loss&columns=gone'));
    expect([view.sort, view.group, view.columns]).to.deep.equal([null, null, null]);
  });
});

describe('the lines of the table of runs', () => {
  const items = [3, 10, null, 'b', 'a'].map((value, at) => ({ id: `${at}`, value }));

  it('keep the order of the items', () => {
    const lines = arrange(items, { group: null, closed: new Set() });
    expect(lines.map(({ key }) => key)).to.deep.equal(items.map(({ id }) => id));
  });
  it('have a head for each group, in which closed ones have nothing below', () => {
    const lines = arrange(items, {
      group: ({ value }) => [{ key: typeof value, label: typeof value }],
      closed: new Set(['number']),
    });
    expect(
      lines.map((line) => (line.kind === 'group' ? `${line.label} ${line.count}` : line.item.id)),
    ).to.deep.equal(['number 2', 'object 1', '2', 'string 2', '3', '4']);
  });
});
