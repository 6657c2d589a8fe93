import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const busError = failureRule({
  name: 'bus-error',
  title: 'The process crashed with a bus error',
  cause:
    'A memory-mapped file or shared memory could not be read: most often /dev/shm is full, or a file was cut while it was mapped.',
  fixes: [
    'Give the job more shared memory (/dev/shm; docker: --shm-size).',
    'Check that nothing rewrites a data file that the job has mapped.',
  ],
  confidence: 0.88,
  remedy: 'change',
  patterns: [/\bBus error\b|\bSIGBUS\b|received signal 7\b|exitcode ?: ?-7\b/],
  applies: ({ attempt }) => hasExit(attempt, [-7, 135]),
  explainsKill: true,
});
