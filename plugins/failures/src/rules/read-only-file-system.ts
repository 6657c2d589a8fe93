import { failureRule } from '../failure-rule.js';

export const readOnlyFileSystem = failureRule({
  name: 'read-only-file-system',
  title: 'The file system is read-only',
  cause: 'The job wrote to a file system that takes no writes.',
  fixes: [
    'Write to a folder that can be written, such as the working directory.',
    'If it should take writes, look in the log of the kernel: a disk with errors is mounted read-only.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [/\bRead-only file system\b|\bEROFS\b/],
});
