import { toPathInside, writtenFolders, type Mount } from '@svc/agent';
import { expect } from 'chai';

const mount = (source: string, target: string, read_only = false): Mount => ({ source, target, read_only });

describe('the mounts of a container', () => {
  const mounts = [
    mount('/data/ck', '/ckpts'),
    mount('/data/imagenet', '/data', true),
    mount('/scratch', '/ckpts/tmp'),
  ];

  it('show a place of the host below their target', () => {
    expect(toPathInside(mounts, '/data/ck/checkpoint-2')).to.equal('/ckpts/checkpoint-2');
    expect(toPathInside(mounts, '/data/ck')).to.equal('/ckpts');
    expect(toPathInside(mounts, '/scratch/a')).to.equal('/ckpts/tmp/a');
  });

  it('do not show what lies beside them, nor what another one hides', () => {
    for (const place of ['/data/ck2/a', '/data', '/data/ck/tmp/a'])
      expect(toPathInside(mounts, place), place).to.equal(null);
  });

  it('are written to unless they are read-only', () => {
    expect(writtenFolders(mounts)).to.deep.equal(['/data/ck', '/scratch']);
    expect(writtenFolders(null)).to.deep.equal([]);
  });
});
