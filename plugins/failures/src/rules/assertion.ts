import { failureRule } from '../failure-rule.js';

export const assertion = failureRule({
  name: 'assertion',
  title: 'An assertion failed',
  cause: 'The program checked a condition of its own, and it did not hold.',
  fixes: ['Correct what the condition at the line of the traceback checks.'],
  confidence: 0.85,
  remedy: 'change',
  patterns: [
    /^(?:\w+\.)*AssertionError\b/,
    /\bAssertion [`'].{1,500}?['`] failed\b/,
    /^\S+: \S+:\d+: .{0,300}?\bAssertion /,
  ],
  explainsKill: true,
});
