import { isMissing } from '@svc/agent/durable-file';
import type { SlotSpec } from '@svc/contract';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const QUERY = ['--query-gpu=index,uuid,name,memory.total', '--format=csv,noheader,nounits'];
const TIMEOUT_MS = 15_000;
const run = promisify(execFile);

/** The GPUs that nvidia-smi names; none where there is no nvidia-smi. */
export async function listGpus(program: string, signal: AbortSignal): Promise<SlotSpec[]> {
  try {
    const { stdout } = await run(program, QUERY, { timeout: TIMEOUT_MS, signal });
    return parseGpuList(stdout);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Lines of `index, uuid, name, memory in MiB`. Throws on anything else. */
export function parseGpuList(csv: string): SlotSpec[] {
  return csv
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(parseGpu);
}

function parseGpu(line: string): SlotSpec {
  const [index = '', uuid, model, memory] = line.split(',').map((field) => field.trim());
  if (!/^\d+$/.test(index) || !uuid || !model)
    throw new Error(`nvidia-smi answered "${line}", which names no GPU`);
  const memoryMb = Number(memory);
  return {
    index: Number(index),
    uuid,
    model,
    memory_total_mb: Number.isFinite(memoryMb) ? memoryMb : null,
    virtual: false,
  };
}
