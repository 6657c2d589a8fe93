import { DispatchFailed } from '@svc/agent';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MountHolder } from '../src/agent/held-mounts.js';

describe('the mounts that an agent of root holds', function () {
  before(function () {
    if (process.getuid?.() !== 0) this.skip();
  });
  let dir: string;
  let holder: MountHolder;
  const at = (...parts: string[]) => path.join(dir, ...parts);
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'svc-held-')));
    mkdirSync(at('data/mine'), { recursive: true });
    mkdirSync(at('secret'));
    writeFileSync(at('data/mine/file'), 'mine');
    writeFileSync(at('secret/file'), 'secret');
    holder = new MountHolder(at('places'));
  });
  afterEach(async () => {
    await holder.restore();
    rmSync(dir, { recursive: true });
  });

  const mount = (source: string) => ({ source, target: '/data', read_only: true });
  const swap = () => {
    renameSync(at('data/mine'), at('data/old'));
    symlinkSync(at('secret'), at('data/mine'));
  };
  const mountsBelow = (place: string) =>
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.split(' ')[1]?.startsWith(place));

  it('are those that were checked, whatever becomes of their paths, of directories and of files', async () => {
    const { mounts, release } = await holder.hold(
      [at('data/mine'), at('data/mine/file')].map(mount),
      'gpu-1',
    );
    swap();
    expect(readFileSync(path.join(mounts[0]!.source, 'file'), 'utf8')).to.equal('mine');
    expect(readFileSync(mounts[1]!.source, 'utf8')).to.equal('mine');
    await release();
    expect(readdirSync(at('places'))).to.deep.equal([]);
    expect(readFileSync(at('data/old/file'), 'utf8')).to.equal('mine');
  });

  it('are refused when a part of the path became a link after the check', async () => {
    swap();
    for (const source of [at('data/mine'), at('data/mine/file'), at('data/gone')]) {
      const error: unknown = await holder.hold([mount(source)], 'gpu-1').catch((reason: unknown) => reason);
      expect(error, source).to.be.instanceOf(DispatchFailed);
    }
    expect(readdirSync(at('places'))).to.deep.equal([]);
  });

  it('keep what is mounted below them, which a release leaves in its place', async () => {
    mkdirSync(at('data/mine/below'));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', at('data/mine/below')]);
    try {
      writeFileSync(at('data/mine/below/deep'), '');
      const { mounts, release } = await holder.hold([mount(at('data/mine'))], 'gpu-1');
      expect(existsSync(path.join(mounts[0]!.source, 'below/deep'))).to.equal(true);
      await release();
      expect(existsSync(at('data/mine/below/deep'))).to.equal(true);
    } finally {
      execFileSync('umount', [at('data/mine/below')]);
    }
  });

  it('are released by the next agent when theirs was killed', async () => {
    await holder.hold([mount(at('data/mine'))], 'gpu-1');
    await new MountHolder(at('places')).restore();
    expect(mountsBelow(at('places'))).to.deep.equal([]);
    expect(readFileSync(at('data/mine/file'), 'utf8')).to.equal('mine');
  });
});
