import { failureRule } from '../failure-rule.js';

export const diskFull = failureRule({
  name: 'disk-full',
  title: 'The disk is full',
  cause: 'A file system that the job wrote to has no space left.',
  fixes: [
    'Free space on the node: old checkpoints, caches, /tmp.',
    'Write checkpoints to a larger file system, and keep fewer of them.',
  ],
  confidence: 0.96,
  remedy: 'repair',
  patterns: [
    /\bNo space left on device\b|\bENOSPC\b|\[Errno 28\]/,
    /\b[Pp]ytorchStreamWriter failed writing file\b|enforce fail at inline_container\.cc/,
  ],
});
