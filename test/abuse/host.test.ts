import { mkdirSync } from 'node:fs';
import { openLab, type Lab } from './lab.js';
import { describeRows, hold } from './row.js';
import { FULL_DISK_ROW, LOCK_ROW, mountSmallDisk } from './rows/host.js';

describeRows('a host whose database is locked', [LOCK_ROW]);

describe('a host whose disk is full', function () {
  this.timeout(180_000);
  let lab: Lab | undefined;
  let unmount: (() => void) | null = null;

  before(async function () {
    lab = await openLab(({ dataDir }) => {
      mkdirSync(dataDir, { recursive: true });
      unmount = mountSmallDisk(dataDir);
      // Only who may mount can have a disk that is full.
      if (unmount === null) this.skip();
      return [];
    });
  });
  after(async () => {
    await lab?.workplace.end();
    unmount?.();
    await lab?.close();
  });

  it(FULL_DISK_ROW.input, () => hold(FULL_DISK_ROW, lab!));
});
