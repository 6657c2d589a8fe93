import { isBelow, realPaths, walkJobFiles, WALK_LIMITS } from '@svc/agent/job-files';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

describe('the walk through the folders of a job', () => {
  let root: string;
  beforeEach(() => (root = realpathSync(mkdtempSync(path.join(tmpdir(), 'job-files-')))));
  afterEach(() => rmSync(root, { recursive: true }));

  function write(name: string): void {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), '');
  }
  const isWanted = ({ name }: { name: string }) => name.startsWith('wanted');
  const walk = (options?: Parameters<typeof walkJobFiles>[2]) => walkJobFiles([root], isWanted, options);
  const namesOf = ({ found }: Awaited<ReturnType<typeof walk>>) =>
    found.map((file) => path.relative(root, file.path));

  it('finds files and folders that are wanted, and does not enter the latter', async () => {
    for (const name of ['wanted-1', 'a/b/wanted-2', 'wanted-3/wanted-4', 'a/other']) write(name);
    const walked = await walk();
    expect(namesOf(walked)).to.have.members(['wanted-1', 'a/b/wanted-2', 'wanted-3']);
    expect(walked.found.map((file) => file.root)).to.deep.equal([root, root, root]);
    expect(walked.folders).to.have.members([root, path.join(root, 'a'), path.join(root, 'a/b')]);
    expect(walked.isCut).to.equal(false);
  });

  it('enters no hidden folders, none of packages, and none that it is told not to', async () => {
    for (const folder of ['.git', 'node_modules', 'venv', 'wandb', 'state', 'a']) write(`${folder}/wanted`);
    expect(namesOf(await walk({ except: [path.join(root, 'state')] }))).to.deep.equal(['a/wanted']);
  });

  it('follows no links, also none in a circle, and waits for no pipe', async () => {
    write('a/wanted');
    symlinkSync('..', path.join(root, 'a/up'));
    symlinkSync('a', path.join(root, 'link'));
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    expect(namesOf(await walk())).to.deep.equal(['a/wanted']);
  });

  it('says when it ends before it has seen all', async () => {
    write('1/2/3/wanted');
    const deep = await walk({ limits: { ...WALK_LIMITS, depth: 3 } });
    expect([namesOf(deep), deep.isCut]).to.deep.equal([[], true]);
    for (let index = 0; index < 20; index++) write(`many/wanted-${index}`);
    const many = await walk({ limits: { ...WALK_LIMITS, entries: 10 } });
    expect(many.found).to.have.length.below(10);
    expect(many.isCut).to.equal(true);
  });

  it('goes through a folder once, though it is given twice or lies in another, and leaves out what is not there', async () => {
    write('a/wanted');
    const roots = [root, `${root}/`, path.join(root, 'a'), path.join(root, 'none')];
    expect((await walkJobFiles(roots, isWanted)).found).to.have.length(1);
  });

  it('has the real paths of folders, and those of folders that are not there yet', async () => {
    symlinkSync(root, path.join(root, 'link'));
    expect(await realPaths([path.join(root, 'link'), '/none/x/..'])).to.deep.equal([root, '/none']);
  });

  it('tells what lies below a folder', () => {
    expect(['/a/b', '/a/..b', '/a', '/ab', '/b'].map((file) => isBelow(file, '/a'))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
