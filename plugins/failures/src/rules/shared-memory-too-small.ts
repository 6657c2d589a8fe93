import { failureRule } from '../failure-rule.js';

export const sharedMemoryTooSmall = failureRule({
  name: 'shared-memory-too-small',
  title: 'Shared memory was full',
  cause: 'The processes exchange tensors through shared memory (/dev/shm), which had no room left.',
  fixes: [
    'Give the job more shared memory (docker: --shm-size or --ipc=host; else a larger /dev/shm).',
    "Use fewer DataLoader workers, or torch.multiprocessing.set_sharing_strategy('file_system').",
  ],
  confidence: 0.96,
  remedy: 'change',
  patterns: [
    /insufficient shared memory \(shm\)/,
    /unable to (?:write to|allocate shared memory\(shm\) for|resize) file <\/?\S{0,200}?torch_/,
    /unexpected bus error encountered in worker/,
    /\/dev\/shm.{0,200}?No space left on device|No space left on device.{0,200}?\/dev\/shm/,
  ],
  explainsKill: true,
});
