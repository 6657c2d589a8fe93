import { KILLED_FOR_MEMORY } from '@svc/signals';
import { SMALLER_BATCH } from '../changed-argument.js';
import { failureRule } from '../failure-rule.js';
import { hasReason, isKilledForMemory } from '../evidence/end.js';

export const kernelKilledForMemory = failureRule({
  name: 'kernel-killed-for-memory',
  title: 'The kernel killed the process because the host ran out of memory',
  cause:
    'The host, or the limit of the memory group of the job, had no memory left, and the kernel killed the process.',
  fixes: [
    'Load less into memory: fewer DataLoader workers, smaller prefetch, memory-mapped or streamed data.',
    'Run on a host with more memory, or raise the memory limit of the job.',
  ],
  confidence: 0.96,
  remedy: 'change',
  argument: SMALLER_BATCH,
  patterns: KILLED_FOR_MEMORY,
  applies: ({ attempt }) => (isKilledForMemory(attempt) ? [...(hasReason(attempt, 'OOM') ?? [])] : null),
  explainsKill: true,
});
