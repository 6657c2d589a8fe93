import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../../src/failure.js';
import { writeArchive } from '../../src/snapshot/archive.js';
import { KnownTrees } from '../../src/snapshot/known-trees.js';
import { toReadFailure } from '../../src/snapshot/read-failure.js';
import { refuseData } from '../../src/snapshot/size-check.js';
import { readSourceTree } from '../../src/snapshot/source-tree.js';

const MIB = 1024 * 1024;
const into = (target: string) => (chunks: AsyncIterable<Buffer>) => writeFile(target, chunks);

describe('a source tree', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(path.join(tmpdir(), 'svc-tree-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function write(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
  }
  const names = () => readSourceTree(root).files.map(({ name }) => name);

  it('leaves out what .gitignore and .svcignore of each directory say, as git does', () => {
    write({
      '.gitignore': '*.log\n/out\n!keep.log\n',
      '.svcignore': 'notes/\n',
      'train.py': '',
      'a.log': '',
      'keep.log': '',
      'out/model': '',
      'sub/out/kept': '',
      'sub/.gitignore': 'kept.tmp\n!b.log\n',
      'sub/kept.tmp': '',
      'sub/b.log': '',
      'notes/n.txt': '',
    });
    expect(names()).to.deep.equal([
      '.gitignore',
      '.svcignore',
      'keep.log',
      'sub/.gitignore',
      'sub/b.log',
      'sub/out/kept',
      'train.py',
    ]);
    expect(readSourceTree(root).leftOut).to.deep.equal(['a.log', 'notes/', 'out/', 'sub/kept.tmp']);
  });

  it('leaves out what no source is, and secrets, unless .svcignore wants them', () => {
    write({
      '.git/config': '',
      '.venv/bin/python': '',
      'pkg/__pycache__/m.pyc': '',
      'node_modules/x/index.js': '',
      '.env': 'TOKEN=1',
      '.env.local': 'TOKEN=1',
      'train.py': '',
    });
    expect(names()).to.deep.equal(['train.py']);
    write({ '.svcignore': '!.env\n' });
    expect(names()).to.deep.equal(['.env', '.svcignore', 'train.py']);
  });

  it('leaves out tokens and keys at any depth, unless .svcignore wants them', () => {
    const secrets = [
      '.svc/token',
      '.config/svc/profiles.json',
      '.ssh/config',
      '.aws/credentials',
      '.gnupg/x',
      '.kube/config',
      '.docker/config.json',
      '.netrc',
      '.npmrc',
      '.pypirc',
      'id_rsa',
      'id_ed25519.pub',
      'id_ecdsa',
      'a.pem',
      'b.key',
    ];
    const deeper = secrets.map((name) => `sub/${name}`);
    write(Object.fromEntries([...secrets, ...deeper, 'train.py', 'sub/m.py'].map((name) => [name, 'x'])));
    expect(names()).to.deep.equal(['sub/m.py', 'train.py']);
    write({ '.svcignore': '!a.pem\n' });
    expect(names()).to.deep.equal(['.svcignore', 'a.pem', 'sub/a.pem', 'sub/m.py', 'train.py']);
  });

  it('leaves out the directories of servers and agents, whatever their names', () => {
    const secret = '{"node_secret":"x"}';
    write({ 'data/server.lock': '', 'data/token': 'x', 'deep/state/agent/agent.json': secret });
    write({ 'deep/state/jobs/job_1/attempt-1/stdout': 'x', 'former/agent.json': secret });
    write({ 'train.py': '', 'other/server.lock': '', 'other/agent.json': '{"model":"m"}' });
    const { files, leftOut } = readSourceTree(root);
    expect(files.map(({ name }) => name)).to.deep.equal([
      'other/agent.json',
      'other/server.lock',
      'train.py',
    ]);
    expect(leftOut).to.deep.equal(['data/', 'deep/state/', 'former/']);
    write({ '.svcignore': '!data/\n!data/token\n!state/\n!agent/\n' });
    expect(readSourceTree(root).leftOut).to.deep.equal(['data/', 'deep/state/', 'former/']);
  });

  it('is no home directory, no file system and no data directory', () => {
    const link = path.join(root, 'home');
    symlinkSync(homedir(), link);
    for (const directory of [homedir(), path.dirname(homedir()), link, '/'])
      expect(() => readSourceTree(directory), directory).to.throw(Failure, "name the project's directory");
    const attempt = 'data/jobs/job_1/attempt-2';
    write({ 'data/server.lock': '', 'data/token': '', 'data/backups/1/svc.db': '' });
    write({ [`${attempt}/stdout`]: '', [`${attempt}/work/deep/train.py`]: '' });
    for (const name of ['data', 'data/backups', 'data/backups/1', attempt])
      expect(() => readSourceTree(path.join(root, name)), name).to.throw(Failure, 'in a directory of svc');
    for (const name of [`${attempt}/work`, `${attempt}/work/deep`])
      expect(readSourceTree(path.join(root, name)).files).to.have.length(1);
  });

  describe('below the root of its repository', () => {
    const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'pipe' });
    const below = (directory: string) =>
      readSourceTree(path.join(root, directory)).files.map(({ name }) => name);

    it('leaves out what the directories above it and .git/info/exclude say', () => {
      git('init', '-q');
      write({
        '.gitignore': '*.crt\n/apps/train/local.json\n!wanted.log\n',
        '.git/info/exclude': 'private/\n*.log\n',
        'apps/.gitignore': 'out/\n!public.crt\n',
        'apps/train/train.py': '',
        'apps/train/key.crt': '',
        'apps/train/public.crt': '',
        'apps/train/local.json': '',
        'apps/train/sub/local.json': '',
        'apps/train/private/token': '',
        'apps/train/out/model': '',
        'apps/train/a.log': '',
        'apps/train/wanted.log': '',
      });
      const expected = ['public.crt', 'sub/local.json', 'train.py', 'wanted.log'];
      expect(below('apps/train')).to.deep.equal(expected);
      const link = `${root}-link`;
      symlinkSync(path.join(root, 'apps/train'), link);
      try {
        expect(readSourceTree(link).files.map(({ name }) => name)).to.deep.equal(expected);
      } finally {
        rmSync(link);
      }
    });

    it('reads .git/info/exclude at the root, and that of the repository in a linked worktree', () => {
      git('init', '-q');
      write({ '.git/info/exclude': '*.tok\n', 'a.tok': '', 'a.py': '', '.gitignore': 'linked/\n' });
      git('add', '.gitignore');
      git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qm', 'a');
      git('worktree', 'add', '-q', 'linked');
      write({ 'linked/b.tok': '', 'linked/b.py': '' });
      expect(names()).to.deep.equal(['.gitignore', 'a.py']);
      expect(below('linked')).to.deep.equal(['.gitignore', 'b.py']);
    });

    it('is what the user names, also where the repository leaves out that directory', () => {
      git('init', '-q');
      write({ '.gitignore': 'build/\n*\n*.crt\n', 'build/a.py': '', 'build/key.crt': '' });
      expect(below('build')).to.deep.equal(['a.py']);
    });

    it('reads nothing above it where there is no repository', () => {
      write({ '.gitignore': '*.py\n', 'sub/a.py': '' });
      expect(below('sub')).to.deep.equal(['a.py']);
    });
  });

  it('keeps links as links, and leaves pipes out', () => {
    write({ 'a.py': '' });
    symlinkSync('a.py', path.join(root, 'b.py'));
    symlinkSync('/nowhere', path.join(root, 'c'));
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    expect(names()).to.deep.equal(['a.py', 'b.py', 'c']);
    expect(readSourceTree(root).leftOut).to.deep.equal(['pipe']);
  });

  it('has rules in files alone, and of a bounded size', () => {
    write({ 'a.py': '', 'b.log': '', 'sub/c.log': '', 'dir/.gitignore/x': '' });
    for (const name of ['.gitignore', '.svcignore', 'sub/.svcignore'])
      execFileSync('mkfifo', [path.join(root, name)]);
    expect(names()).to.deep.equal(['a.py', 'b.log', 'dir/.gitignore/x', 'sub/c.log']);
    rmSync(path.join(root, '.gitignore'));
    symlinkSync('/dev/zero', path.join(root, '.gitignore'));
    expect(names()).to.include('b.log');
    rmSync(path.join(root, '.gitignore'));
    writeFileSync(path.join(root, '.gitignore'), `*.log\n${'#'.repeat(MIB)}`);
    expect(names).to.throw(Failure, /\.gitignore takes 1 MiB.*make it shorter/);
  });

  describe('with a name that is not UTF-8', () => {
    const inRoot = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);

    it('is refused, unless a rule leaves the file out', () => {
      write({ 'a.py': '', 'sub/b.py': '' });
      writeFileSync(inRoot('sub/caf\xe9 [1].txt'), '');
      const remedy = String.raw`put the line /sub/caf?\ \[1\].txt into ${root}/.svcignore`;
      expect(names).to.throw(Failure, String.raw`sub/caf\xe9 [1].txt in ${root} is not valid UTF-8`);
      expect(names).to.throw(Failure, remedy);
      write({ '.svcignore': String.raw`/sub/caf?\ \[1\].txt` });
      expect(names()).to.deep.equal(['.svcignore', 'a.py', 'sub/b.py']);
      expect(readSourceTree(root).leftOut).to.deep.equal([String.raw`sub/caf\xe9 [1].txt`]);
    });

    it('in a link is refused too', () => {
      symlinkSync(Buffer.from('caf\xe9', 'latin1'), path.join(root, 'link'));
      expect(names).to.throw(Failure, /^link in .* is a link to caf\\xe9/);
    });

    it('is taken where it only looks so', () => {
      write({ 'replaced \ufffd.py': '' });
      expect(names()).to.deep.equal(['replaced \ufffd.py']);
    });
  });

  it('is refused when it holds data, with the remedy, unless its owner wants it', () => {
    write({ 'train.py': '', 'weights.pt': '' });
    writeFileSync(path.join(root, 'weights.pt'), Buffer.alloc(21 * MIB));
    const check = () => refuseData(readSourceTree(root), 200 * MIB);
    expect(check).to.throw(Failure, /weights\.pt \(21 MiB\).*\.svcignore/);
    write({ '.svcignore': '!weights.pt\n' });
    expect(check).not.to.throw();
    write({ '.svcignore': '*.pt\n' });
    expect(check).not.to.throw();
  });

  it('is refused when it is too large, and names what is', () => {
    write({ 'a.txt': 'x'.repeat(3000), 'b.txt': 'x'.repeat(2000) });
    expect(() => refuseData(readSourceTree(root), 4000)).to.throw(Failure, /a\.txt \(2\.9 KiB\), b\.txt/);
  });

  it('becomes the same archive from the same files, whenever they were written, and another from others', async () => {
    write({ 'train.py': 'print(1)\n', 'pkg/m.py': 'X = 1\n', '@strange name ä.py': '' });
    chmodSync(path.join(root, 'train.py'), 0o755);
    const target = path.join(tmpdir(), `svc-tree-${process.pid}.tar.gz`);
    const pack = () => writeArchive(readSourceTree(root), into(target));
    try {
      const first = await pack();
      utimesSync(path.join(root, 'train.py'), 1, 1);
      expect(await pack()).to.equal(first);
      const listed = execFileSync('tar', ['-tzvf', target], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } });
      expect(listed).to.match(/-rwxr-xr-x.*\.\/train\.py/);
      expect(listed).to.contain('./pkg/m.py').and.contain('./@strange name');
      write({ 'train.py': 'print(2)\n' });
      expect(await pack()).to.not.equal(first);
    } finally {
      rmSync(target, { force: true });
    }
  });

  it('becomes an archive when many of its files have several names', async () => {
    const target = `${root}.tar.gz`;
    write(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a/${index}.py`, `X = ${index}\n`])));
    mkdirSync(path.join(root, 'b'));
    for (let index = 0; index < 40; index += 1)
      linkSync(path.join(root, `a/${index}.py`), path.join(root, `b/${index}.py`));
    try {
      await writeArchive(readSourceTree(root), into(target));
      const text = execFileSync('tar', ['-xzOf', target, './b/39.py'], { encoding: 'utf8' });
      expect(text).to.equal('X = 39\n');
      expect(execFileSync('tar', ['-tzf', target], { encoding: 'utf8' })).to.match(/^(\S+\n){80}$/);
    } finally {
      rmSync(target, { force: true });
    }
  });

  describe('that cannot be read as it was', () => {
    const LARGE_BYTES = 64 * MIB + 1;
    let target: string;
    beforeEach(() => {
      target = `${root}.tar.gz`;
      write({ 'a.py': '' });
    });
    afterEach(() => rmSync(target, { force: true }));

    /** `change` comes when the file is half read. */
    const failureAfter = async (change: (file: string) => void) => {
      const file = path.join(root, 'run.txt');
      writeFileSync(file, randomBytes(LARGE_BYTES));
      rmSync(target, { force: true });
      const packed = writeArchive(readSourceTree(root), into(target)).then(
        () => expect.fail('it was packed'),
        (error: Error) => error,
      );
      await until(() => existsSync(target) && statSync(target).size > 0);
      change(file);
      return packed;
    };

    it('says which file grows or shrinks, and what to do', async () => {
      const remedy = `run.txt changes while it is read: put a file that is being written to, such as a log, into ${root}/.svcignore`;
      for (const change of [
        (file: string) => appendFileSync(file, 'more'),
        (file: string) => truncateSync(file),
      ]) {
        const { name, message } = await failureAfter(change);
        expect({ name, message }).to.deep.include({ name: 'Failure' });
        expect(message).to.contain(remedy);
      }
    });

    it('says which file is gone', async () => {
      const tree = readSourceTree(root);
      rmSync(path.join(root, 'a.py'));
      const error = await writeArchive(tree, into(target)).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Failure);
      expect(String(error)).to.contain('a.py was removed while the files were read');
    });

    it('says what may not be read', () => {
      chmodSync(root, 0o755);
      write({ 'closed/b.py': '', 'secret.py': '' });
      const secret = path.join(root, 'secret.py');
      chmodSync(secret, 0);
      chmodSync(path.join(root, 'closed'), 0);
      const closed = failureOf(() => readSourceTree(root));
      expect(closed).to.match(/^closed cannot be read .*chmod u\+rX closed.*\.svcignore$/);
      chmodSync(path.join(root, 'closed'), 0o755);
      expect(failureOf(() => readFileSync(secret))).to.match(
        /^secret\.py cannot be read \(permission denied\)/,
      );
      write({ '.gitignore': '' });
      chmodSync(path.join(root, '.gitignore'), 0);
      expect(failureOf(names)).to.contain('.gitignore cannot be read, so what it leaves out is unknown');
    });

    /** As another user: root may read everything. */
    function failureOf(read: () => void): string {
      const isRoot = process.getuid?.() === 0;
      if (isRoot) process.seteuid?.(65_534);
      try {
        read();
      } catch (error) {
        const failure = toReadFailure(error, root) as Error;
        expect(failure).to.be.instanceOf(Failure);
        return failure.message;
      } finally {
        if (isRoot) process.seteuid?.(0);
      }
      return expect.fail('it was read');
    }
  });

  describe('that was packed before', () => {
    let cache: string;
    beforeEach(() => (cache = mkdtempSync(path.join(tmpdir(), 'svc-cache-'))));
    afterEach(() => rmSync(cache, { recursive: true, force: true }));

    it('is known until one of its files changes', async () => {
      write({ 'train.py': 'a', 'm.py': 'b' });
      await pause(150);
      const trees = new KnownTrees(cache);
      trees.keep(readSourceTree(root), 'sha', Date.now());
      expect(new KnownTrees(cache).find(readSourceTree(root))).to.equal('sha');
      write({ 'm.py': 'c' });
      expect(trees.find(readSourceTree(root))).to.equal(null);
    });

    it('is not kept when a file may still change unseen', () => {
      write({ 'train.py': 'a' });
      const trees = new KnownTrees(cache);
      trees.keep(readSourceTree(root), 'sha', Date.now());
      expect(trees.find(readSourceTree(root))).to.equal(null);
    });
  });
});
