import { OUT_OF_GPU_MEMORY } from '@svc/signals';
import { hasReason, isOutOfGpuMemory } from '../evidence/end.js';
import { SMALLER_BATCH } from '../changed-argument.js';
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
  argument: SMALLER_BATCH,
  patterns: OUT_OF_GPU_MEMORY,
  applies: ({ attempt }) => (isOutOfGpuMemory(attempt) ? hasReason(attempt, 'OOM') : null),
});
