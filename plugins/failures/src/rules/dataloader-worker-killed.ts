import { failureRule } from '../failure-rule.js';

export const dataloaderWorkerKilled = failureRule({
  name: 'dataloader-worker-killed',
  title: 'A worker of the DataLoader died',
  cause:
    'A worker process that loads data was killed or ended. Most often the host, or its shared memory, ran out of memory.',
  fixes: [
    'Use fewer workers or a smaller prefetch_factor; num_workers=0 shows the error in the main process.',
    'Give the job more memory and shared memory (/dev/shm; docker: --shm-size).',
  ],
  confidence: 0.94,
  remedy: 'change',
  patterns: [/DataLoader worker \(pid.{1,200}?\) (?:is killed by signal|exited unexpectedly)/],
});
