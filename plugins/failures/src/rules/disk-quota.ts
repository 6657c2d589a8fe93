import { failureRule } from '../failure-rule.js';

export const diskQuota = failureRule({
  name: 'disk-quota',
  title: 'The disk quota is used up',
  cause: 'The user of the job has no quota left on the file system that it wrote to.',
  fixes: [
    'Remove old checkpoints and caches of that user, or raise the quota.',
    'Write to another file system.',
  ],
  confidence: 0.96,
  remedy: 'repair',
  patterns: [/\bDisk quota exceeded\b|\bEDQUOT\b|\[Errno 122\]/],
});
