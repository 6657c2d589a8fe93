import { attemptKey, defineAgentPlugin, type AgentPlugin, type Probe, type RunnerAgent } from '@svc/agent';
import { access } from 'node:fs/promises';
import process from 'node:process';
import { sweepMarked, type ProcessEnvironment } from './agent/process-table.js';
import { ShimPool } from './agent/shim-pool.js';
import { recoverUnderShim, startUnderShim, type ShimState } from './agent/shimmed-run.js';
import type { ProcessPlan } from './spec.js';

/** The agent half: each attempt is a process group in a session of its own, under a shim that outlives the agent. */
function processRunnerAgent(shims: ShimPool): RunnerAgent<ProcessPlan, ShimState> {
  return {
    name: 'process',
    stateVersion: 1,
    survivesReboot: false,
    async *fingerprint() {
      const probe = await fingerprint();
      if (probe.available) shims.warm();
      yield probe;
    },
    start: (plan, ctx) => startUnderShim(shims, plan.command, ctx),
    recover: (saved, ctx) => recoverUnderShim(saved.state, ctx),
    async reap(keep, nodeId) {
      await sweepMarked({ SVC_NODE_ID: nodeId }, (env) => !keep.has(toKey(env)));
    },
  };
}

async function fingerprint(): Promise<Probe> {
  const hasProc = await access('/proc/self/stat').then(
    () => true,
    () => false,
  );
  if (!hasProc) return { available: false, reason: 'it needs /proc, as Linux has it', version: null };
  return { available: true, reason: null, version: `Node.js ${process.version}` };
}

function toKey(env: ProcessEnvironment): string {
  return attemptKey({ job_id: env.get('SVC_JOB_ID') ?? '', attempt: Number(env.get('SVC_ATTEMPT')) });
}

/** Runs a job's command as a process group on this host. `shimCommand` starts a shim; left out: the one beside this file, under this Node. */
export default function runnerProcess(shimCommand?: readonly string[]): AgentPlugin {
  return defineAgentPlugin({
    name: 'runner-process',
    setup(ctx) {
      const shims = new ShimPool(shimCommand);
      ctx.onClose(() => shims.close());
      ctx.hooks.runners.tap(ctx.name, (runners) => runners.add(processRunnerAgent(shims)));
    },
  })();
}
