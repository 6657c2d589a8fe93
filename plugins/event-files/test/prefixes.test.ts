import { expect } from 'chai';
import { Prefixes } from '../src/agent/prefixes.js';

describe('prefixes of event files', () => {
  const prefixesOf = (...folders: string[]) => {
    const prefixes = new Prefixes([]);
    return folders.map((folder) => prefixes.of(folder));
  };

  it('are none for the first folder, wherever it is', () => {
    expect(prefixesOf('/w/runs/Nov23_10-00-00_host')).to.deep.equal(['']);
  });

  it('are the way from it for those below: add_scalars and evaluations', () => {
    expect(prefixesOf('/w/runs/a', '/w/runs/a/loss_train', '/w/runs/a/deep/eval')).to.deep.equal([
      '',
      'loss_train/',
      'deep/eval/',
    ]);
  });

  it('tell train from validation: Keras has no file above them', () => {
    expect(prefixesOf('/w/logs/fit/train', '/w/logs/fit/validation')).to.deep.equal([
      'train/',
      'validation/',
    ]);
  });

  it('have the name of a folder elsewhere', () => {
    expect(prefixesOf('/w/fold_0', '/w/fold_1', '/w/fold_1/eval')).to.deep.equal([
      '',
      'fold_1/',
      'fold_1/eval/',
    ]);
  });

  it('leave out the time that add_hparams takes for a name', () => {
    expect(prefixesOf('/w/runs/a', '/w/runs/a/1700000000.123')).to.deep.equal(['', '']);
  });

  it('are the same once they are decided', () => {
    const bases = new Prefixes([]);
    bases.of('/w/a');
    bases.of('/w/b');
    const later = new Prefixes(bases.bases);
    expect(['/w/b', '/w/a'].map((folder) => later.of(folder))).to.deep.equal(['b/', '']);
  });
});
