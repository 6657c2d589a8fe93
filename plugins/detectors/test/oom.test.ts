import type { Job, LogLine } from '@svc/contract';
import { expect } from 'chai';
import type { SubjectWatch } from '../src/engine/subject-watch.js';
import { watchOf } from './support/watch.js';

const AT = 1_700_000_000_000;

const jobOf = (given: Partial<Job>) => ({ id: 'job', attempt: 1, failure_reason: null, ...given }) as Job;

describe('OOM', () => {
  const line = (text: string, seq = 0): LogLine => ({ seq, stream: 'stderr', ts: AT, text });
  const feed = (watch: SubjectWatch, ...texts: string[]) =>
    watch
      .feed({ kind: 'log', at: AT, job_id: 'job', attempt: 1, lines: texts.map(line) })
      .map(({ finding }) => finding);

  const told: readonly [device: string, text: string][] = [
    ['CUDA', 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'],
    ['CUDA of a rank', '[rank1]: RuntimeError: CUDA error: out of memory'],
    ['HIP', 'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.'],
    [
      'XLA',
      'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes.',
    ],
    ['MPS', 'RuntimeError: MPS backend out of memory (MPS allocated: 17.43 GB)'],
    [
      'the host, Python',
      'numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array',
    ],
    ['the host, C', 'OSError: [Errno 12] Cannot allocate memory'],
    ['the host, a logger', '2026-01-02 03:04:05 [ERROR] MemoryError: Unable to allocate'],
    ['the host, an exception', 'Exception: MemoryError'],
    ['the kernel', 'Out of memory: Killed process 4242 (python3) total-vm:9000kB, anon-rss:8000kB'],
    ['the kernel, a memory group', 'Memory cgroup out of memory: Killed process 4242 (python3)'],
    ['the kernel, who asked', 'python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0'],
    ['Slurm', 'slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.batch.'],
    ['Slurm, newer', 'slurmstepd: error: Detected 2 oom_kill events in StepId=1.0.'],
    ['Slurm, srun', 'srun: error: node1: task 0: Out Of Memory'],
    ['CUDA in lower case', 'RuntimeError: cuda runtime error (2) : out of memory at THCStorage.cu:58'],
    [
      'TensorFlow without a device',
      'tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[32,512]',
    ],
  ];
  for (const [device, text] of told)
    it(`fires for ${device}, once for an attempt`, () => {
      const watch = watchOf('attempt');
      expect(feed(watch, 'step 1', text, text).map(({ type, data }) => [type, data?.['seq']])).to.deep.equal([
        ['OOM', 1],
      ]);
      expect(feed(watch, text)).to.deep.equal([]);
    });

  for (const text of [
    'memory: 12 GB allocated',
    'MemoryErrors: 3',
    'out of memory of past runs',
    'RESOURCE_EXHAUSTED: quota of requests',
    'Detected 0 oom-kill events',
    'memory.events: oom 0 oom_kill 0',
    'the oom-killer is disabled',
    'except MemoryError:',
    'caught a MemoryError, retrying',
    '[ERROR] the handler of MemoryError is installed',
    'Killed',
  ])
    it(`does not fire for: ${text}`, () => expect(feed(watchOf('attempt'), text)).to.deep.equal([]));

  it('fires for an attempt that the kernel killed, also without a line', () => {
    const watch = watchOf('attempt');
    const job = jobOf({ status: 'FAILED', failure_reason: 'OOM' });
    expect(watch.feed({ kind: 'job', at: AT, job }).map(({ finding }) => finding.type)).to.deep.equal([
      'OOM',
    ]);
    expect(watch.feed({ kind: 'job', at: AT, job })).to.deep.equal([]);
    expect(
      watchOf('attempt').feed({
        kind: 'job',
        at: AT,
        job: jobOf({ status: 'FAILED', failure_reason: 'EXIT_CODE' }),
      }),
    ).to.deep.equal([]);
  });
});
