import { failureRule } from '../failure-rule.js';

export const cudaAfterFork = failureRule({
  name: 'cuda-after-fork',
  title: 'CUDA was used in a forked process',
  cause: 'CUDA had been initialised before the process was forked, and cannot be used in the child.',
  fixes: [
    "Use the start method spawn: multiprocessing.set_start_method('spawn').",
    'Touch CUDA in the workers alone, not before they are started.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [/Cannot re-initialize CUDA in forked subprocess/],
});
