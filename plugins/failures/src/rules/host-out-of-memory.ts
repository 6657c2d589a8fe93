import { failureRule } from '../failure-rule.js';
import { hasReason, isOutOfHostMemory } from '../evidence/end.js';

export const hostOutOfMemory = failureRule({
  name: 'host-out-of-memory',
  title: 'The process could not allocate host memory',
  cause:
    'An allocation of host memory failed. The host, a limit of the process (ulimit -v) or a limit of its container had no more.',
  fixes: [
    'Load less into memory: fewer DataLoader workers, smaller batches, memory-mapped or streamed data.',
    'Raise the limit, or run on a host with more memory.',
  ],
  confidence: 0.96,
  remedy: 'change',
  patterns: [
    /^(?:\w+\.)*_?(?:Array)?MemoryError\b/,
    /DefaultCPUAllocator: (?:can't allocate memory|not enough memory)/,
    /\bstd::bad_alloc\b/,
    /\bCannot allocate memory\b|\[Errno 12\]|\bENOMEM\b/,
    /\bJavaScript heap out of memory\b/,
  ],
  applies: ({ attempt }) => (isOutOfHostMemory(attempt) ? hasReason(attempt, 'OOM') : null),
  explainsKill: true,
});
