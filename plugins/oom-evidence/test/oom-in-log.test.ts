import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { findOomInLog, isOutOfMemory, lastError } from '../src/agent/oom-in-log.js';

const TORCH =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.19 GiB is free.';
const CPU =
  "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000000000000 bytes. Error code 12 (Cannot allocate memory)";
const TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n';

describe('agent: the out-of-memory error that a log ends in', () => {
  const errors: readonly string[] = [
    TORCH,
    'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity)',
    'RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity)',
    'RuntimeError: CUDA error: out of memory',
    'torch.AcceleratorError: CUDA error: out of memory',
    'OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.',
    'CUDA out of memory',
    'cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes',
    'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.',
    'RuntimeError: HIP error: out of memory',
    'RuntimeError: MPS backend out of memory (MPS allocated: 17.43 GB, other allocations: 448.00 KB)',
    'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes.',
    'jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 8589934592 bytes.',
    'XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 2.00GiB (2147483648B) on device ordinal 0',
    CPU,
    "[enforce fail at CPUAllocator.cpp:64] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4194304000000 bytes.",
    'RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to allocate 25600000000 bytes.',
    'MemoryError',
    'MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64',
    'MemoryError: bad allocation',
    'numpy.core._exceptions.MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,)',
    'numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array',
    'numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array',
  ];
  for (const error of errors)
    it(`knows ${error.slice(0, 70)}`, () => expect(isOutOfMemory(error)).to.equal(true));

  const others: readonly string[] = [
    'RuntimeError: CUDA error: an illegal memory access was encountered',
    'RuntimeError: caught CUDA out of memory, and something else went wrong',
    'the last batch ran into torch.OutOfMemoryError: CUDA out of memory',
    'INFO CUDA out of memory is caught by this loop',
    'MemoryErrors: 3',
    'RuntimeError: [enforce fail at inline_container.cc:424] . PytorchStreamWriter failed writing file data/1: file write failed',
    "the worker said DefaultCPUAllocator: can't allocate memory",
    'XlaRuntimeError: RESOURCE_EXHAUSTED: quota of requests',
    'ValueError: MemoryError',
    'MyOutOfMemoryErrorHandler: none',
  ];
  for (const other of others)
    it(`does not take for one: ${other}`, () => expect(isOutOfMemory(other)).to.equal(false));

  const logs: readonly [what: string, text: string, error: string | null][] = [
    ['an error that nobody caught', `step 3\n${TRACEBACK}${TORCH}\n`, TORCH],
    ['the error of a rank', `[rank0]: ${TRACEBACK.replaceAll('\n', '\n[rank0]: ')}${TORCH}\n`, TORCH],
    ['a progress bar before it', ` 10%|#   | 1/10\r 20%|##  | 2/10${TRACEBACK}${TORCH}\n`, TORCH],
    [
      'what is said behind it',
      `${TRACEBACK}${TORCH}\nwandb: synced\n[W] process group has not been destroyed\n`,
      TORCH,
    ],
    [
      'a launcher that tells of its process',
      `${TRACEBACK}${TORCH}\n${TRACEBACK}torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n====\ntrain.py FAILED\n`,
      TORCH,
    ],
    [
      'an accelerator that tells of its process',
      `${TRACEBACK}${TORCH}\n${TRACEBACK}subprocess.CalledProcessError: Command '['python']' returned non-zero exit status 1.\n`,
      TORCH,
    ],
    [
      'an exception that Python ignores',
      `${TRACEBACK}${TORCH}\nException ignored in: <function Loader.__del__ at 0x7f>\n${TRACEBACK}AssertionError: can only test a child process\n`,
      TORCH,
    ],
    [
      'C++',
      `terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: out of memory\n`,
      'CUDA error: out of memory',
    ],
    ['PyTorch without a GPU', `${TRACEBACK}${CPU}\n`, CPU],
    [
      'another error after one that was caught',
      `${TRACEBACK}${TORCH}\nskipped\n${TRACEBACK}ValueError: no data\n`,
      'ValueError: no data',
    ],
    [
      'an error of any name after it',
      `${TRACEBACK}${TORCH}\n${TRACEBACK}my.lib.Diverged: at step 7\n`,
      'my.lib.Diverged: at step 7',
    ],
    ['no error at all', 'step 1\nstep 2\n', null],
    ['one that lies far back', `${TRACEBACK}${TORCH}\n${'step\n'.repeat(60)}`, null],
    ['a mention in a sentence', `we met ${TORCH}\n`, null],
  ];
  for (const [what, text, error] of logs)
    it(`is found, or not, behind ${what}`, () => expect(lastError(text)).to.equal(error));

  describe('in the files of an attempt', () => {
    let dir: string;
    beforeEach(async () => void (dir = await mkdtemp(path.join(os.tmpdir(), 'svc-oom-'))));
    afterEach(() => rm(dir, { recursive: true, force: true }));

    const find = async (files: { stdout?: string; stderr?: string }): Promise<string | null> => {
      const paths = { stdout: path.join(dir, 'stdout'), stderr: path.join(dir, 'stderr') };
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(dir, name), text);
      return findOomInLog(paths);
    };

    it('reads the end of a long one', async () => {
      expect(await find({ stdout: '', stderr: `${'x'.repeat(1000)}\n`.repeat(1000) + TORCH })).to.equal(
        TORCH,
      );
    });

    it('takes stdout where stderr has no error', async () => {
      expect(await find({ stdout: `${TORCH}\n`, stderr: 'a warning\n' })).to.equal(TORCH);
    });

    it('does not take stdout where stderr has another', async () => {
      expect(await find({ stdout: `${TORCH}\n`, stderr: `${TRACEBACK}ValueError: x\n` })).to.equal(null);
    });

    it('finds none where there are no files, nor in the half of a line', async () => {
      expect(await find({})).to.equal(null);
      expect(await find({ stderr: `${'x'.repeat(20_000)}${TORCH}` })).to.equal(null);
    });

    it('keeps the evidence short', async () => {
      expect(await find({ stderr: `MemoryError: ${'x'.repeat(5000)}` })).to.have.length(500);
    });
  });
});
