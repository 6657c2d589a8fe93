import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const interrupted = failureRule({
  name: 'interrupted',
  title: 'The program was interrupted',
  cause: 'The process got SIGINT, as from Ctrl-C.',
  fixes: ['Nothing is wrong with the program: start it again when it is to go on.'],
  confidence: 0.85,
  remedy: 'retry',
  patterns: [/^KeyboardInterrupt\b/],
  applies: ({ attempt }) => hasExit(attempt, [-2, 130]),
  explainsKill: true,
});
