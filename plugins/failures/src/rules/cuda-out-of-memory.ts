import { hasReason, isOutOfGpuMemory } from '../evidence/end.js';
import { failureRule } from '../failure-rule.js';

export const cudaOutOfMemory = failureRule({
  name: 'cuda-out-of-memory',
  title: 'The GPU ran out of memory',
  cause: 'The process asked for more memory than was free on the GPU.',
  fixes: [
    'Use a smaller batch, and gradient accumulation to keep the effective batch size.',
    'Use mixed precision (bf16), activation checkpointing, or a shorter sequence.',
    'Use a GPU with more memory, or shard the model over several GPUs (FSDP, DeepSpeed).',
    'Where the message reports much reserved but unallocated memory, set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.',
  ],
  confidence: 0.97,
  remedy: 'change',
  patterns: [
    /^(?:(?:torch|cupy)\.(?:\w+\.)*)?OutOfMemoryError\b/,
    /\b(?:CUDA|HIP|MPS) (?:backend )?(?:error: )?out of memory\b/,
    /\bhipErrorOutOfMemory\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bcudaErrorMemoryAllocation\b/,
    /\bCUBLAS_STATUS_ALLOC_FAILED\b/,
    /\bRESOURCE_EXHAUSTED: .{0,300}?(?:[Oo]ut of memory|\ballocat)/,
  ],
  applies: ({ attempt }) => (isOutOfGpuMemory(attempt) ? hasReason(attempt, 'OOM') : null),
});
