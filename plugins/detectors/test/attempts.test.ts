import type { Job } from '@svc/contract';
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Attempts, toWatched } from '../src/engine/attempts.js';

const MIB = 1024 * 1024;

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('the attempts that detectors know', () => {
  const jobOf = (index: number) =>
    ({
      id: `job_${index}`,
      attempt: 1,
      status: 'RUNNING',
      run_id: null,
      node_id: 'node',
      env: {},
      command: [Buffer.alloc(MIB, 'x').toString('latin1')],
      runner_options: {},
      gpu_indices: [0],
    }) as unknown as Job;

  it('take little memory, however long their commands are', async () => {
    const attempts = new Attempts({ db: null as never }, null as never);
    const before = heapUsed();
    for (let index = 0; index < 100; index += 1) attempts.changed(jobOf(index));
    expect((heapUsed() - before) / MIB).to.be.below(10);
    expect(attempts.runningOn('node')).to.have.length(100);
    expect(await attempts.find({ job_id: 'job_7', attempt: 1 })).to.deep.equal({
      job_id: 'job_7',
      attempt: 1,
      run_id: null,
      node_id: 'node',
    });
  });

  it('are shown to detectors without what may be large or secret', () => {
    expect(toWatched(jobOf(1))).to.deep.equal({
      id: 'job_1',
      attempt: 1,
      status: 'RUNNING',
      run_id: null,
      node_id: 'node',
      gpu_indices: [0],
    });
  });
});
