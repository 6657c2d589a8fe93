import { SmallDisk, until } from '@svc/agent/testing';
import { expect } from 'chai';
import path from 'node:path';
import { createHost, type Host } from './support/host.js';

describe('process runner: a full disk', () => {
  let host: Host;
  let disk: SmallDisk | null;
  beforeEach(async function () {
    host = await createHost();
    disk = SmallDisk.tryMount(path.join(host.stateDir, 'disk'), 2);
    if (disk === null) return this.skip();
    await host.startAgent({ stateDir: disk.dir });
  });
  afterEach(async () => {
    await host.closeAgent();
    disk?.unmount();
    await host.close();
  });

  it('is named by DISPATCH_FAILED, with the directory; with room again the next job runs', async () => {
    await host.server.ended(host.sh('exit 0'));
    disk!.fill();
    const key = host.sh('exit 0');
    const report = await until(
      () =>
        host.server.all('attempt').find((frame) => frame.job_id === key.job_id && frame.state === 'ended'),
      'the end',
    );
    const dir = path.join(disk!.dir, 'jobs', key.job_id, 'attempt-1');
    const { kind, message } = report.exit as { kind: string; message: string };
    expect(kind).to.equal('dispatch_failed');
    expect(message).to.contain(`${dir} cannot be made on node-1: ENOSPC: no space left on device`);
    expect(report).to.include({ pid: null, started_at: null });
    disk!.empty();
    const next = await host.server.ended(host.sh('exit 6'));
    expect(next.exit).to.deep.equal({ kind: 'exited', code: 6 });
  });
});
