import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TreeCheck } from '../worker/tree-check.mjs';

const MIB = 1024 * 1024;
const LIMITS = { maxFiles: 100_000, maxBytes: MIB };

describe('the check of a source tree', () => {
  it('takes little memory for long paths', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const directory = Array.from({ length: 11 }, () => 'p'.repeat(250)).join('/');
    const tree = new TreeCheck(LIMITS);
    collect();
    const beforeBytes = process.memoryUsage().heapUsed;
    for (let at = 0; at < 30_000; at += 1) {
      // As the reader of an archive makes it.
      const path = Buffer.from(`${directory}/file-with-a-long-name-${at}`).toString();
      expect(tree.add({ path, type: 'File', linkpath: '', size: 0 })).to.equal(null);
    }
    collect();
    expect(process.memoryUsage().heapUsed - beforeBytes).to.be.below(20 * MIB);
    expect(tree.files).to.equal(30_000);
  });

  it('bounds what symbolic links take together', () => {
    const tree = new TreeCheck(LIMITS);
    const flaws = Array.from({ length: 9_000 }, (_, at) =>
      tree.add({ path: `l${at}`, type: 'SymbolicLink', linkpath: 't'.repeat(4_000), size: 0 }),
    );
    expect(flaws[8_000]).to.equal(null);
    expect(flaws.at(-1)).to.equal('its symbolic links take more than 33554432 bytes');
  });
});
