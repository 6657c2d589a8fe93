import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const terminated = failureRule({
  name: 'terminated',
  title: 'Somebody else ended the process',
  cause:
    'The process got SIGTERM, and not from svc: a person, a preemption or a shutdown of the host ended it.',
  fixes: [
    'Look at who ended it: the administrator, the scheduler of the host, a restart.',
    'Save checkpoints on SIGTERM, and begin from the last one.',
  ],
  confidence: 0.85,
  remedy: 'retry',
  applies: ({ attempt }) => hasExit(attempt, [-15, 143]),
  explainsKill: true,
});
