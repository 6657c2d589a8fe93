import { OUT_OF_HOST_MEMORY } from '@svc/signals';
import { SMALLER_BATCH } from '../changed-argument.js';
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
  argument: SMALLER_BATCH,
  patterns: OUT_OF_HOST_MEMORY,
  applies: ({ attempt }) => (isOutOfHostMemory(attempt) ? hasReason(attempt, 'OOM') : null),
  explainsKill: true,
});
