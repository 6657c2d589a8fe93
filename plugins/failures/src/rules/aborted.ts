import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const aborted = failureRule({
  name: 'aborted',
  title: 'The process aborted itself',
  cause: 'Native code found an error and ended the process (SIGABRT).',
  fixes: [
    'Read the lines before the end: the library says there what was wrong.',
    'Run with PYTHONFAULTHANDLER=1 to see where Python was.',
  ],
  confidence: 0.6,
  remedy: 'change',
  patterns: [/terminate called after throwing an instance of|terminate called without an active exception/],
  applies: ({ attempt }) => hasExit(attempt, [-6, 134]),
  explainsKill: true,
});
