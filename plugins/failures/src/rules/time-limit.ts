import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const timeLimit = failureRule({
  name: 'time-limit',
  title: 'The time limit was reached',
  cause: 'The job, or a program in it, ran longer than it was allowed to.',
  fixes: ['Give it more time.', 'Save checkpoints, and begin from the last one.'],
  confidence: 0.93,
  remedy: 'change',
  patterns: [
    /DUE TO TIME LIMIT/,
    /\b(?:wall[- ]?time|time limit|CPU time limit|runtime limit)\b.{0,80}?\b(?:exceeded|reached)\b/,
  ],
  applies: ({ attempt }) => hasExit(attempt, [124, -24, 152]),
  explainsKill: true,
});
