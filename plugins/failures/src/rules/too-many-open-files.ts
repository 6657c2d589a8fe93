import { failureRule } from '../failure-rule.js';

export const tooManyOpenFiles = failureRule({
  name: 'too-many-open-files',
  title: 'Too many files were open',
  cause: 'The process reached its limit of open files and sockets.',
  fixes: [
    'Raise the limit (ulimit -n) for the job.',
    "Use fewer DataLoader workers, close files, or torch.multiprocessing.set_sharing_strategy('file_system').",
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [/\bToo many open files\b|\bEMFILE\b|\[Errno 24\]/, /received 0 items of ancdata/],
});
