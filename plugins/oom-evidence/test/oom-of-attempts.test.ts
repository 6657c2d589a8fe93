import { until } from '@svc/agent/testing';
import type { Exit } from '@svc/contract';
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHost, type Host } from '../../runner-process/test/support/host.js';

const TORCH = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';
/** As PyTorch defines it, for a host without PyTorch. */
const LIKE_TORCH = `
import sys
OutOfMemoryError = type('OutOfMemoryError', (RuntimeError,), {'__module__': 'torch'})
def allocate():
    raise OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB.')
`;
const LITTLE_MEMORY = `
import resource
resource.setrlimit(resource.RLIMIT_AS, (512 * 1024 * 1024,) * 2)
`;

describe('process runner: an out-of-memory error at the end of the log', () => {
  let host: Host;
  before(async () => {
    host = await createHost();
    await host.startAgent();
  });
  after(() => host?.close());

  const python = (script: string) => host.run(['python3', '-c', script]);
  const exitOf = async (script: string): Promise<Exit | null> =>
    (await host.server.ended(python(script))).exit;

  it('is told of a Python that has no memory left', async () => {
    const exit = await exitOf(`${LITTLE_MEMORY}\nblocks = [bytearray(64 << 20) for _ in range(100)]`);
    expect(exit).to.deep.equal({ kind: 'oom', code: 1, evidence: 'MemoryError' });
  });

  it('is told of a training whose device has none left, and kept in exit.json', async () => {
    const key = python(`${LIKE_TORCH}\nprint('step 1')\nallocate()`);
    const exit = { kind: 'oom', code: 1, evidence: TORCH };
    expect((await host.server.ended(key)).exit).to.deep.equal(exit);
    expect(await host.json(key, 'exit.json')).to.deep.include(exit);
  });

  it('is not told of one that caught it and failed later for another reason', async () => {
    const script = `${LIKE_TORCH}
import traceback
try:
    allocate()
except RuntimeError:
    traceback.print_exc()
raise ValueError('no data')`;
    expect(await exitOf(script)).to.deep.equal({ kind: 'exited', code: 1 });
  });

  it('is not told of one that mentions it, or succeeds', async () => {
    expect(await exitOf(`print('as after ${TORCH}'); raise SystemExit(3)`)).to.deep.equal({
      kind: 'exited',
      code: 3,
    });
    expect(await exitOf(`print('${TORCH}')`)).to.deep.equal({ kind: 'exited', code: 0 });
  });

  it('is not told of one that was stopped', async () => {
    const key = python(`import time\nprint('${TORCH}', flush=True)\ntime.sleep(60)`);
    await until(() => host.server.logs.lines(key).length === 1, 'the line');
    host.server.send({ type: 'stop', ...key, grace_ms: 5000 });
    const exit = { kind: 'signaled', signal: 'SIGTERM', code: -15 };
    expect((await host.server.ended(key)).exit).to.deep.equal(exit);
  });

  it('is told of one that ended while no agent was there', async () => {
    const go = path.join(host.stateDir, 'go');
    const wait = `import os, time\nprint('ready', flush=True)\nwhile not os.path.exists('${go}'): time.sleep(0.02)`;
    const key = python(`${wait}\n${LIKE_TORCH}\nallocate()`);
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    await host.closeAgent();
    await writeFile(go, '');
    await until(() => host.json(key, 'exit.json').catch(() => null), 'the end');
    await host.startAgent();
    expect((await host.server.ended(key)).exit).to.deep.equal({ kind: 'oom', code: 1, evidence: TORCH });
  });
});
