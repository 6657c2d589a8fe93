import type { RunnerServer } from '@svc/contract';
import { ProcessOptions, type ProcessPlan } from './spec.js';

/** The server half: the job's command is the whole plan. */
export function processRunner(): RunnerServer<typeof ProcessOptions, ProcessPlan> {
  return {
    name: 'process',
    optionsSchema: ProcessOptions,
    placement: 'slots',
    plan: (_options, job) => ({ command: job.command }),
  };
}
