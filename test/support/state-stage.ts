import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog, startAgent, type Agent } from '@svc/agent';
import { killProcessesOf } from '@svc/agent/testing';
import type { Job, JobStatus, JobSubmit, JobTrigger, LogLine } from '@svc/contract';
import type { Change } from '@svc/kernel';
import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { Lab, type FakeAgent } from '../../plugins/jobs/test/support/lab.js';
import agentConfig from '../../plugins/runner-process/test/support/agent-config.js';
import { createCuttingProxy, type CuttingProxy } from '../faults/cutting-proxy.js';

/** A row of the specification's table of job states, in its words, and what shows that it holds. */
export interface Row {
  readonly from: string;
  readonly trigger: string;
  readonly condition?: string;
  readonly to: string;
  readonly also?: string;
  /** The transitions of the contract that it stands for: `prove` must bring each of them about. */
  readonly moves: readonly (readonly [trigger: JobTrigger, from: JobStatus])[];
  readonly prove: Proof;
}

/** Resolves with every change of a job that observers saw. */
export type Proof = () => Promise<readonly Change<Job>[]>;

/** A real server whose time and whose agents do what the proof says. */
export interface ClockStage {
  readonly lab: Lab;
  readonly clock: FakeClock;
  /** Moves time on until the job has got there. */
  passUntil(job: Job, status: JobStatus): Promise<Job>;
  /** A job that runs on the agent. */
  run(
    agent: FakeAgent,
    body?: Partial<JobSubmit>,
  ): Promise<{ job: Job; dispatch: { job_id: string; attempt: number } }>;
}

export function onClock(prove: (stage: ClockStage) => Promise<void>): Proof {
  return async () => {
    const clock = fakeClock();
    const lab = await Lab.open({ clock });
    try {
      await prove({
        lab,
        clock,
        passUntil: (job, status) =>
          until(async () => {
            const now = await lab.job(job.id);
            if (now.status === status) return now;
            await clock.advance(5000);
            return null;
          }) as Promise<Job>,
        async run(agent, body) {
          const job = await lab.submit(body);
          const dispatch = await agent.start({ job_id: job.id });
          await lab.reach(job.id, 'RUNNING');
          return { job, dispatch };
        },
      });
      return lab.changes;
    } finally {
      await lab.close();
    }
  };
}

/** A real server and a real agent with one GPU slot, real processes, and a proxy between the two. */
export interface HostStage {
  readonly lab: Lab;
  readonly agent: Agent;
  readonly proxy: CuttingProxy;
  /** A directory for what processes wait for. */
  readonly dir: string;
  /** Submits a shell script, without a GPU unless told otherwise. */
  sh(script: string, body?: Partial<JobSubmit>): Promise<Job>;
  lines(job: Job): Promise<string[]>;
}

/** Quick, and otherwise as in production. */
const JOB_TIMING = { kill_grace_s: 0.5, tick_s: 0.2 };
const NODE_TIMING = { heartbeat_s: 0.2, offline_after_s: 2 };

/** `nodes`: for a proof that needs an agent that is away to be waited for, however slow the machine is. */
export function onHost(prove: (stage: HostStage) => Promise<void>, nodes = NODE_TIMING): Proof {
  return async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'svc-stage-'));
    const lab = await Lab.open({ options: JOB_TIMING, nodes, plugins: [logs()] });
    const proxy = await createCuttingProxy(Number(new URL(lab.kernel.url).port));
    const agent = await startAgent({
      url: proxy.url,
      token: 'agent',
      stateDir: path.join(dir, 'state'),
      virtualGpus: 1,
      plugins: agentConfig.plugins,
      log: createAgentLog({ write: () => {} }),
    });
    try {
      await agent.ready;
      await prove({
        lab,
        agent,
        proxy,
        dir,
        sh: (script, body) =>
          lab.submit({ command: ['sh', '-c', script], resources: { cpu_only: true }, ...body }),
        async lines(job) {
          const { body } = await lab.request('GET', `/jobs/${job.id}/logs`);
          return (body as { lines: LogLine[] }).lines.map(({ text }) => text);
        },
      });
      return lab.changes;
    } finally {
      await agent.close();
      await killProcessesOf(agent.nodeId);
      await proxy.close();
      await lab.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    }
  };
}
