import { attemptKey, recoverUnderShim, ShimPool, startUnderShim, sweepMarked } from '@svc/agent';
import type { ProcessEnvironment, RunnerAgent, ShimState } from '@svc/agent';
import { access } from 'node:fs/promises';
import process from 'node:process';
import type { ProcessPlan } from './spec.js';

export interface ProcessRunnerOptions {
  /** Program and arguments that start a shim; left out: the one of `@svc/agent`, under this Node. */
  shimCommand?: readonly string[];
}

/** The agent half: each attempt is a process group in a session of its own, under a shim that outlives the agent. */
export function processRunnerAgent(options: ProcessRunnerOptions = {}): RunnerAgent<ProcessPlan, ShimState> {
  const shims = new ShimPool(options.shimCommand);
  return {
    name: 'process',
    stateVersion: 1,
    async probe() {
      const hasProc = await access('/proc/self/stat').then(
        () => true,
        () => false,
      );
      if (!hasProc) return { available: false, reason: 'it needs /proc, as Linux has it', version: null };
      shims.warm();
      return { available: true, reason: null, version: process.version };
    },
    start: (plan, ctx) => startUnderShim(shims, plan.command, ctx),
    recover: (saved, ctx) => recoverUnderShim(saved.state, ctx),
    async reap(keep, nodeId) {
      await sweepMarked({ SVC_NODE_ID: nodeId }, (env) => !keep.has(toKey(env)));
    },
    async close() {
      shims.close();
    },
  };
}

function toKey(env: ProcessEnvironment): string {
  return attemptKey({ job_id: env.get('SVC_JOB_ID') ?? '', attempt: Number(env.get('SVC_ATTEMPT')) });
}
