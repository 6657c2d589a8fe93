import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readSourceTree } from '../../src/snapshot/source-tree.js';

describe('a source tree with tokens in it', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(path.join(tmpdir(), 'svc-tree-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('leaves out small files that hold one, unless a rule says that they come along', () => {
    const token = `svc_agent_${'aB3'.repeat(14)}x\n`;
    mkdirSync(path.join(root, 'sub'));
    const write = (name: string, text: string) => writeFileSync(path.join(root, name), text);
    write('agent-token', token);
    write('my-token.env', `SVC_TOKEN=${token}`);
    write('tokens.py', 'PREFIX = "svc_agent_"\n');
    write('tokenizer.txt', `${token}${'x'.repeat(1024)}`);
    write('sub/token', token);
    write('sub/.svcignore', '!token\n');
    const { files, leftOut } = readSourceTree(root);
    const names = files.map(({ name }) => name);
    expect(names).to.deep.equal(['sub/.svcignore', 'sub/token', 'tokenizer.txt', 'tokens.py']);
    expect(leftOut).to.deep.equal(['agent-token', 'my-token.env']);
  });
});
