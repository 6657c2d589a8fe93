import { failureRule } from '../failure-rule.js';

export const importError = failureRule({
  name: 'import-error',
  title: 'A Python import failed',
  cause:
    'A module was found, but what is imported from it is not there: most often two packages have versions that do not fit.',
  fixes: [
    'Compare the installed versions with what the program needs (python -m pip list, pip check).',
    'Check that no file of yours has the name of a package it imports.',
  ],
  confidence: 0.93,
  remedy: 'repair',
  patterns: [
    /^(?:\w+\.)*ImportError: /,
    /\bcannot import name '[^']{1,200}' from\b/,
    /partially initialized module '[^']{1,200}' has no attribute/,
  ],
});
