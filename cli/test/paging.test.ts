import { expect } from 'chai';
import { noteLimit, noteOlder } from '../src/output/paging.js';
import { createPaint } from '../src/output/style.js';
import { toTable, type Column } from '../src/output/table.js';

describe('the end of a list', () => {
  function notesOf(work: () => void): string[] {
    const written: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = ((text: string) => written.push(text) > 0) as typeof process.stderr.write;
    try {
      work();
    } finally {
      process.stderr.write = write;
    }
    return written;
  }

  it('names the command that goes on, without the token that was given', () => {
    const argv = ['jobs', '--token', 'svc_write_x', '--name', 'a b', '--before=9', '--token=svc_write_x'];
    expect(notesOf(() => noteOlder(5, argv))).to.deep.equal([
      "older ones: svc jobs --name 'a b' --before 5\n",
    ]);
  });

  it('names the largest limit of a list without pages', () => {
    const argv = ['metrics', 'list', '--project', 'vision', '--limit', '5'];
    expect(notesOf(() => noteLimit(5, 1000, argv))).to.deep.equal([
      'at most 5 are listed; for more: svc metrics list --project vision --limit 1000\n',
    ]);
    expect(notesOf(() => noteLimit(1000, 1000, argv))).to.deep.equal(['at most 1000 are listed\n']);
  });
});

describe('a table on a narrow terminal', () => {
  const columns: readonly Column<string>[] = [
    { title: 'ID', cell: () => 'X8R2QF' },
    { title: 'NAME', cell: (name) => name, shrinks: true },
    { title: 'NOTE', cell: () => 'waiting for 1 free GPU behind 3 jobs', shrinks: true },
  ];
  const plain = createPaint({ isTTY: false });

  it('takes from the widest of the columns that may shrink', () => {
    const lines = toTable(columns, ['train.py', 'n'.repeat(300)], plain, 40);
    expect(lines.map((line) => [...line].length)).to.satisfy((widths: number[]) =>
      widths.every((w) => w <= 40),
    );
    expect(lines[1]).to.contain('train.py').and.contain('waiting');
    expect(lines[2]).to.contain('…');
  });

  it('is whole where there is no limit', () => {
    expect(toTable(columns, ['n'.repeat(300)], plain, Infinity)[1]).to.contain('n'.repeat(300));
  });
});
