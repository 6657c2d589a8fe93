import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { JobFilesWatch } from '../../src/core/job-files-watch.js';

describe('the watch over the folders of a job', () => {
  let root: string;
  let watch: JobFilesWatch;
  let names: string[];
  let walks: { isLast: boolean }[];
  let signs: number;
  let isEarly: boolean;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'job-files-watch-')));
    [names, walks, signs, isEarly] = [[], [], 0, false];
    watch = new JobFilesWatch({
      roots: [root],
      select: ({ name }) => name.startsWith('wanted'),
      onWalked: async ({ found }, isLast) => {
        names = found.map((file) => path.relative(root, file.path));
        walks.push({ isLast });
        return isEarly;
      },
      onSign: () => (signs += 1),
    });
  });
  afterEach(async () => {
    await watch.close();
    rmSync(root, { recursive: true });
  });
  const untilFound = (...wanted: string[]) =>
    until(() => names.toSorted().join() === wanted.toSorted().join(), wanted.join());

  it('finds what is made, also in new folders, what is moved, and what is removed', async () => {
    await untilFound();
    writeFileSync(path.join(root, 'wanted-1'), '');
    await untilFound('wanted-1');
    mkdirSync(path.join(root, 'a/b'), { recursive: true });
    writeFileSync(path.join(root, 'a/b/wanted-2'), '');
    await untilFound('wanted-1', 'a/b/wanted-2');
    renameSync(path.join(root, 'a'), path.join(root, 'moved'));
    await untilFound('wanted-1', 'moved/b/wanted-2');
    writeFileSync(path.join(root, 'moved/b/wanted-3'), '');
    await untilFound('wanted-1', 'moved/b/wanted-2', 'moved/b/wanted-3');
    rmSync(path.join(root, 'moved'), { recursive: true });
    await untilFound('wanted-1');
    expect(signs).to.be.greaterThan(0);
  });

  it('looks again soon when it is asked to', async () => {
    isEarly = true;
    await until(() => walks.length >= 3, 'walks without a change');
  });

  it('looks no more once it is closed, but for the last time', async () => {
    await until(() => walks.length > 0, 'a walk');
    await watch.close();
    const before = walks.length;
    writeFileSync(path.join(root, 'wanted'), '');
    await watch.look();
    expect(names).to.deep.equal(['wanted']);
    expect(walks.slice(before)).to.deep.equal([{ isLast: true }]);
  });
});
