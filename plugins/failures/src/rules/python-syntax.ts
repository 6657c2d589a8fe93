import { failureRule } from '../failure-rule.js';

export const pythonSyntax = failureRule({
  name: 'python-syntax',
  title: 'A Python file has a syntax error',
  cause: 'Python cannot read a source file: it has a mistake, or uses a newer syntax than this Python knows.',
  fixes: ['Correct the line that the message shows.', 'Check the version of Python that the job runs with.'],
  confidence: 0.96,
  remedy: 'change',
  patterns: [/^(?:Syntax|Indentation|Tab)Error: /],
});
