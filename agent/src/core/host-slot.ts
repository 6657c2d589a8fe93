import type { SlotSpec } from '@svc/contract';

/** A slot as the host itself knows it. */
export interface HostSlot extends SlotSpec {
  /** What CUDA_VISIBLE_DEVICES calls it. Left out: its index. */
  readonly cudaName?: string;
  /** Device files and directories of such that a program needs for it, as a container is given them. Left out: the engine knows what it needs. */
  readonly devices?: readonly string[];
}
