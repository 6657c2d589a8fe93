import type { ProcessOwner, SlowAnswer } from '@svc/agent';
import type { SlotSpec } from '@svc/contract';

export type OwnerOf = (pid: number) => ProcessOwner;

/** One of the two programs that tell of AMD GPUs. */
export interface AmdTool {
  /** Rejects with ENOENT where the program is not installed. */
  discover(signal: AbortSignal): Promise<SlotSpec[]>;
  /** The figures and processes of the GPUs with these indices. */
  ask(indices: ReadonlySet<number>, signal: AbortSignal): Promise<SlowAnswer>;
}
