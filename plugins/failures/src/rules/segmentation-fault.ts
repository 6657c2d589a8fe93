import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const segmentationFault = failureRule({
  name: 'segmentation-fault',
  title: 'The process crashed with a segmentation fault',
  cause:
    'Native code accessed memory that is not its own: a defect of a library or an extension, or versions that do not fit.',
  fixes: [
    'Run with PYTHONFAULTHANDLER=1 to see where Python was.',
    'Reinstall compiled packages (torch, numpy, CUDA extensions) in versions that fit.',
    'If it happens in one node alone, test the memory of that node.',
  ],
  confidence: 0.9,
  remedy: 'change',
  patterns: [/\bSegmentation fault\b|\bSIGSEGV\b|received signal 11|exitcode ?: ?-11/],
  applies: ({ attempt }) => hasExit(attempt, [-11, 139]),
  explainsKill: true,
});
