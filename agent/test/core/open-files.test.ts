import { isWritten, placesWritten } from '@svc/agent/open-files';
import { expect } from 'chai';
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

describe('files that are open for writing', function () {
  let root: string;
  const descriptors: number[] = [];
  before(function () {
    if (process.platform !== 'linux') this.skip();
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'open-files-')));
    mkdirSync(path.join(root, 'checkpoint/deep'), { recursive: true });
  });
  after(() => {
    for (const descriptor of descriptors) closeSync(descriptor);
    if (root) rmSync(root, { recursive: true });
  });
  const at = (name: string) => path.join(root, name);
  function open(name: string, flags: string): number {
    writeFileSync(at(name), '', { flag: 'a' });
    const descriptor = openSync(at(name), flags);
    descriptors.push(descriptor);
    return descriptor;
  }

  it('are told with the folders that they are in; those that are read are not', async () => {
    const [read, appended] = [open('read', 'r'), open('appended', 'a')];
    open('both', 'r+');
    open('checkpoint/deep/weights', 'w');
    writeFileSync(at('closed'), '');
    const places = ['read', 'appended', 'both', 'checkpoint', 'closed', 'none'].map(at);
    expect([...(await placesWritten(places))]).to.have.members(['appended', 'both', 'checkpoint'].map(at));
    const pid = String(process.pid);
    expect(await isWritten(pid, String(read))).to.equal(false);
    expect(await isWritten(pid, String(appended))).to.equal(true);
    expect(await isWritten(pid, '999999')).to.equal(false);
  });
});
