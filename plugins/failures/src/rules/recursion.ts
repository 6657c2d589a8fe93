import { failureRule } from '../failure-rule.js';

export const recursion = failureRule({
  name: 'recursion',
  title: 'The recursion was too deep',
  cause: 'A function called itself too often.',
  fixes: ['Correct the call that never ends: the traceback names its functions.'],
  confidence: 0.93,
  remedy: 'change',
  patterns: [/^(?:\w+\.)*RecursionError: /],
});
