import { expect } from 'chai';
import { toDiffParts, toEnvironment } from '../src/data/environment.js';

describe('an environment snapshot', () => {
  it('is told apart into facts, packages, commit and changes', () => {
    const git = { commit: 'abc', branch: 'main', dirty: true, diff: '+x\n', diff_cut_bytes: 3 };
    expect(toEnvironment({ python: '3.12', packages: ['a==1'], git })).to.deep.equal({
      facts: { python: '3.12', git: { commit: 'abc', branch: 'main', dirty: true, diff_cut_bytes: 3 } },
      packages: ['a==1'],
      diff: '+x\n',
      diffCutBytes: 3,
      commit: { id: 'abc', branch: 'main', isDirty: true },
    });
  });

  it('shows whatever somebody else sent', () => {
    const other = { packages: { a: 1 }, git: 'abc', more: [1] };
    const nothing = { packages: [], diff: '', diffCutBytes: 0, commit: null };
    expect(toEnvironment(other)).to.deep.equal({ facts: other, ...nothing });
    expect(toEnvironment({})).to.deep.equal({ facts: {}, ...nothing });
    expect(toEnvironment({ git: { commit: 7, diff: {} }, packages: [1] })).to.deep.include({
      ...nothing,
      facts: { git: { commit: 7 }, packages: [1] },
    });
  });

  it('has changes of lines that are of one kind with their neighbours', () => {
    const lines = [
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      '@@ -1,2 +1,2 @@',
      ' same',
      '-- old',
      '++ new',
      '+more',
      '',
    ];
    expect(toDiffParts(lines.join('\n'))).to.deep.equal([
      { kind: 'file', text: 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n' },
      { kind: 'same', text: ' same\n' },
      { kind: 'removed', text: '-- old\n' },
      { kind: 'added', text: '++ new\n+more\n' },
    ]);
  });
});
