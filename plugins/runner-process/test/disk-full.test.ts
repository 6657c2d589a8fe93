import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createHost, type Host } from './support/host.js';

describe('process runner: a full disk', () => {
  let host: Host;
  let disk: string;
  beforeEach(async function () {
    host = await createHost();
    disk = path.join(host.stateDir, 'disk');
    mkdirSync(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      disk = '';
      this.skip(); // It takes a user who may mount.
    }
    await host.startAgent({ stateDir: disk });
  });
  afterEach(async () => {
    await host.closeAgent();
    if (disk !== '') execFileSync('umount', [disk], { stdio: 'ignore' });
    await host.close();
  });

  /** Takes every byte that is left. */
  function fill(): void {
    const file = openSync(path.join(disk, 'fill'), 'w');
    try {
      for (const size of [65_536, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
    } finally {
      closeSync(file);
    }
  }

  it('is named by DISPATCH_FAILED, with the directory; with room again the next job runs', async () => {
    await host.server.ended(host.sh('exit 0'));
    fill();
    const key = host.sh('exit 0');
    const report = await until(
      () =>
        host.server.all('attempt').find((frame) => frame.job_id === key.job_id && frame.state === 'ended'),
      'the end',
    );
    const dir = path.join(disk, 'jobs', key.job_id, 'attempt-1');
    const { kind, message } = report.exit as { kind: string; message: string };
    expect(kind).to.equal('dispatch_failed');
    expect(message).to.contain(`${dir} cannot be made on node-1: ENOSPC: no space left on device`);
    expect(report).to.include({ pid: null, started_at: null });
    rmSync(path.join(disk, 'fill'));
    const next = await host.server.ended(host.sh('exit 6'));
    expect(next.exit).to.deep.equal({ kind: 'exited', code: 6 });
  });
});

function writeUntilFull(file: number, bytes: Buffer): void {
  for (;;) {
    try {
      writeSync(file, bytes);
    } catch {
      return;
    }
  }
}
