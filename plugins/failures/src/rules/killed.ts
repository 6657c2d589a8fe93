import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const killed = failureRule({
  name: 'killed',
  title: 'The process was killed (SIGKILL)',
  cause:
    'Something other than svc killed it. The most common reason is that the host or the container ran out of memory, but svc found no record of the kernel that says so.',
  fixes: [
    'If the memory of the node was nearly full, load less into memory (fewer DataLoader workers, smaller batches), or use a host with more.',
    'Ask who else may end processes on the host.',
  ],
  confidence: 0.7,
  remedy: 'retry',
  patterns: [/\bSignal 9 \(SIGKILL\) received\b|\bexitcode ?: ?-9\b|: line \d+: +\d+ Killed\b/],
  applies: ({ attempt }) => hasExit(attempt, [-9, 137]),
  explainsKill: true,
});
