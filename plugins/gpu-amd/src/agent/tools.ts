import { isMissing } from '@svc/agent/durable-file';
import type { SlotSpec } from '@svc/contract';
import { createAmdSmi } from './amd-smi.js';
import type { AmdTool, OwnerOf } from './amd-tool.js';
import { createRocmSmi } from './rocm-smi.js';

export interface Programs {
  readonly amdSmi: string;
  readonly rocmSmi: string;
}

/** The tool of this host with its GPUs; null where neither is installed. Rejects when there is one that cannot tell them. */
export async function findTool(
  { amdSmi, rocmSmi }: Programs,
  ownerOf: OwnerOf,
  signal: AbortSignal,
): Promise<{ tool: AmdTool; slots: readonly SlotSpec[] } | null> {
  let failure: unknown = null;
  for (const tool of [createAmdSmi(amdSmi, ownerOf), createRocmSmi(rocmSmi, ownerOf)]) {
    try {
      return { tool, slots: await tool.discover(signal) };
    } catch (error) {
      if (!isMissing(error)) failure ??= error;
    }
  }
  if (failure !== null) throw failure;
  return null;
}
