import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { listGpus, parseGpuList } from '../src/agent/gpu-list.js';

const CSV = `0, GPU-5f6e1c2d, NVIDIA H200, 143771
1, GPU-77aa0b1c, NVIDIA H200, [N/A]
`;
const SLOTS = [
  { index: 0, uuid: 'GPU-5f6e1c2d', model: 'NVIDIA H200', memory_total_mb: 143771, virtual: false },
  { index: 1, uuid: 'GPU-77aa0b1c', model: 'NVIDIA H200', memory_total_mb: null, virtual: false },
];

describe('gpu-nvidia: GPUs by nvidia-smi', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'svc-gpu-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  async function program(script: string): Promise<string> {
    const file = path.join(dir, 'nvidia-smi');
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    return file;
  }
  const discover = (file: string) => listGpus(file, new AbortController().signal);

  it('reads index, uuid, name and memory', () => {
    expect(parseGpuList(CSV)).to.deep.equal(SLOTS);
    expect(parseGpuList('\n')).to.deep.equal([]);
  });

  it('refuses an answer that names no GPU', () => {
    for (const text of ['No devices were found', 'x, GPU-1, H200, 1', '0, , H200, 1', '0']) {
      expect(() => parseGpuList(text)).to.throw('names no GPU');
    }
  });

  it('asks the program', async () => {
    const file = await program(
      `[ "$1" = --query-gpu=index,uuid,name,memory.total ] && printf '${CSV.replaceAll('\n', '\\n')}'`,
    );
    expect(await discover(file)).to.deep.equal(SLOTS);
  });

  it('finds none where there is no such program', async () => {
    expect(await discover(path.join(dir, 'missing'))).to.deep.equal([]);
  });

  it('rejects when the program fails', async () => {
    const error = await discover(await program('echo driver mismatch >&2; exit 9')).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(Error).with.property('message').that.includes('driver mismatch');
  });
});
