import { SmallDisk, until, type TestHost } from '@svc/agent/testing';
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost } from '../support/host.js';

describeWithEngine('docker runner: a full disk of the agent', (engine) => {
  let host: TestHost;
  let disk: SmallDisk;
  beforeEach(async () => {
    host = await createHost();
    disk = SmallDisk.mount(path.join(host.stateDir, 'disk'), 8);
    await host.startAgent({ stateDir: disk.dir });
  });
  afterEach(async () => {
    await host.closeAgent();
    disk.unmount();
    await host.close();
  });

  it('delays the end of a job until there is room for its log, of which nothing is lost', async () => {
    const key = host.sh('echo ready; until [ -e go ]; do sleep 0.02; done; seq 1 100000; exit 3');
    const fileOf = (name: string) => path.join(disk.dir, 'jobs', key.job_id, 'attempt-1', name);
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    await writeFile(fileOf('work/go'), '');
    disk.fill();
    const isOver = async () => (await engine().containers())[0]?.State === 'exited';
    await until(isOver, 'the end of the container');
    await until(() => host.logged.find((line) => line.includes('ENOSPC')), 'the warning');
    expect(existsSync(fileOf('exit.json'))).to.equal(false);
    disk.empty();
    const { exit } = await host.server.ended(key);
    expect(exit).to.deep.equal({ kind: 'exited', code: 3 });
    const numbers = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`);
    expect(await readFile(fileOf('stdout'), 'utf8')).to.equal(`ready\n${numbers.join('')}`);
    expect((await engine().containers()).length).to.equal(0);
  });
});

describeWithEngine(
  'docker runner: a full disk of the engine',
  (engine) => {
    it('is named by DISPATCH_FAILED; with room again the next job runs', async () => {
      const host = await createHost();
      try {
        await host.startAgent();
        engine().disk?.fill();
        const { exit } = await host.server.ended(host.sh('exit 0'));
        expect(exit?.kind).to.equal('dispatch_failed');
        expect((exit as { message: string }).message).to.include('no space left on device');
        engine().disk?.empty();
        const next = await host.server.ended(host.sh('exit 6'));
        expect(next.exit).to.deep.equal({ kind: 'exited', code: 6 });
        expect((await engine().containers()).length).to.equal(0);
      } finally {
        await host.close();
      }
    });
  },
  { diskMb: 96 },
);
