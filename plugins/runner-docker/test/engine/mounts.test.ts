import { expect } from 'chai';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MountHolder } from '../../src/agent/held-mounts.js';
import { describeWithEngine, IMAGE } from '../support/docker-engine.js';

describeWithEngine('docker runner: a directory that is exchanged for a link before the start', (engine) => {
  it('is mounted as it was checked, and stays so after the agent has released it', async () => {
    const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'svc-swap-')));
    const at = (...parts: string[]) => path.join(dir, ...parts);
    const holder = new MountHolder(at('places'));
    for (const name of ['mine', 'secret']) {
      mkdirSync(at(name));
      writeFileSync(at(name, 'whose'), name);
    }
    const { mounts, release } = await holder.hold(
      [{ source: at('mine'), target: '/data', read_only: true }],
      'node-1',
    );
    const container = await engine().client.createContainer({
      Image: IMAGE,
      Cmd: ['sh', '-c', 'until [ -e /go ]; do sleep 0.02; done; [ "$(cat /data/whose)" = mine ]'],
      HostConfig: { Mounts: [{ Type: 'bind', Source: mounts[0]!.source, Target: '/data', ReadOnly: true }] },
    });
    try {
      renameSync(at('mine'), at('old'));
      symlinkSync(at('secret'), at('mine'));
      await container.start();
      await release();
      const exec = await container.exec({ Cmd: ['touch', '/go'] });
      await exec.start({});
      expect(await container.wait()).to.include({ StatusCode: 0 });
    } finally {
      await container.remove({ force: true });
      await holder.restore();
      rmSync(dir, { recursive: true });
    }
  });
});
