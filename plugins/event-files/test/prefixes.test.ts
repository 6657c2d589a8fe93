import { expect } from 'chai';
import { Prefixes } from '../src/agent/prefixes.js';

describe('prefixes of event files', () => {
  const ROOT = '/home/me/project';
  const at = (way: string) => ({ root: ROOT, path: `${ROOT}/${way}`.replace(/\/$/, '') });

  /** Those of folders that begin together, and of some that come later. */
  function prefixesOf(first: readonly string[], ...later: string[]): string[] {
    const prefixes = new Prefixes(null);
    prefixes.decide(first.map(at));
    return [...first, ...later].map((way) => prefixes.of(at(way)));
  }

  it('are none for a folder alone, wherever it is', () => {
    for (const way of ['', 'runs', 'runs/exp', 'lightning_logs/version_7', 'runs/Nov23_10-00-00_host'])
      expect(prefixesOf([way]), way).to.deep.equal(['']);
  });

  it('are the way from it for those below: add_scalars and evaluations', () => {
    const ways = ['runs/a/loss_train', 'runs/a/deep/eval'];
    const expected = ['', 'loss_train/', 'deep/eval/'];
    expect(prefixesOf(['runs/a', ...ways])).to.deep.equal(expected);
    expect(prefixesOf(['runs/a'], ...ways)).to.deep.equal(expected);
  });

  it('tell train from validation, together and one after the other: Keras has no file above them', () => {
    const expected = ['train/', 'validation/'];
    expect(prefixesOf(['logs/fit/train', 'logs/fit/validation'])).to.deep.equal(expected);
    expect(prefixesOf(['logs/fit/train'], 'logs/fit/validation')).to.deep.equal(expected);
    expect(prefixesOf(['logs/20261123-100000/train'], 'logs/20261123-100500/validation')).to.deep.equal(
      expected,
    );
  });

  it('are the same for folders that begin together in whichever order', () => {
    expect(prefixesOf(['w/fold_0', 'w/fold_1', 'w/fold_1/eval'])).to.deep.equal([
      'fold_0/',
      'fold_1/',
      'fold_1/eval/',
    ]);
    expect(prefixesOf(['w/fold_1', 'w/fold_0'])).to.deep.equal(['fold_1/', 'fold_0/']);
  });

  it('leave the first folder as it is when others come later', () => {
    expect(prefixesOf(['w/fold_0'], 'w/fold_1', 'other/a/eval', '')).to.deep.equal([
      '',
      'fold_1/',
      'other/a/eval/',
      'project/',
    ]);
  });

  it('have no times', () => {
    const ways = {
      'runs/Nov22_10-00-00_host.example': 'runs/',
      'runs/Nov22_10-00-00_host_generator': 'generator/',
      'runs/exp/1700000000.123': 'exp/',
      'runs/resnet-20261123-100000': 'resnet/',
      'outputs/2026-11-23/10-00-00': 'outputs/',
      'outputs/2026-11-23_10:00:00.123456': 'outputs/',
      'fit/1700000000123': 'fit/',
      'fit/seed_1234': 'fit/seed_1234/',
      'fit/lr_0.001_2': 'fit/lr_0.001_2/',
    };
    for (const [way, expected] of Object.entries(ways))
      expect(prefixesOf(['runs/a'], way)[1], way).to.equal(expected);
  });

  it('do not depend on where the job runs', () => {
    const prefixes = new Prefixes(null);
    prefixes.decide([
      { root: '/var/lib/svc/jobs/job_1/attempt-2/work', path: '/var/lib/svc/jobs/job_1/attempt-2/work/a' },
      { root: '/scratch/tb', path: '/scratch/tb/b' },
    ]);
    expect(prefixes.of({ root: '/scratch/tb', path: '/scratch/tb/b' })).to.equal('b/');
  });

  it('are the same after a restart of the agent', () => {
    const prefixes = new Prefixes(null);
    prefixes.decide([at('w/a'), at('w/b')]);
    expect(new Prefixes(prefixes.base).of(at('w/a'))).to.equal('a/');
  });
});
