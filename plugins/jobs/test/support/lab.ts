import { FakeAgent } from '@svc/agent/testing';
import type { EventRecord, Hello, Job, JobStatus, JobSubmit } from '@svc/contract';
import { definePlugin, type Change, type Clock, type Plugin, type PluginContext } from '@svc/kernel';
import { createTestKernel, until, type TestDatabase, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { nodes, nodesRef, type Nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runnerProcess } from '@svc/plugin-runner-process';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attemptPrepare, jobChanged, jobTransition } from '../../src/hooks.js';
import { jobs, jobsRef, type Jobs } from '../../src/index.js';
import type { AttemptRow } from '../../src/job-row.js';

export { FakeAgent, toReport, virtualSlots } from '@svc/agent/testing';

export interface LabOptions {
  readonly database?: TestDatabase;
  readonly clock?: Clock;
  readonly options?: Parameters<typeof jobs>[0];
  readonly nodes?: Parameters<typeof nodes>[0];
  readonly plugins?: readonly Plugin[];
  /** Kept between two servers. */
  readonly dataDir?: string;
  readonly logLevel?: 'trace';
  readonly writeLog?: (line: string) => void;
}

/** A real server with the jobs plugin and what it requires, and agents that do what the test says. */
export class Lab {
  readonly #agents: FakeAgent[] = [];

  private constructor(
    readonly kernel: TestKernel,
    readonly changes: Change<Job>[],
  ) {}

  static async open({ options, nodes: timing, plugins = [], ...rest }: LabOptions = {}): Promise<Lab> {
    const changes: Change<Job>[] = [];
    const watch = tapping('watch', (ctx) => ctx.tap(jobChanged, (change) => void changes.push(change)));
    const kernel = await createTestKernel({
      plugins: [events(), projects(), nodes(timing), jobs(options), runnerProcess(), ...plugins, watch],
      ...rest,
    });
    return new Lab(kernel, changes);
  }

  get nodes(): Nodes {
    return this.kernel.use(nodesRef);
  }

  get jobs(): Jobs {
    return this.kernel.use(jobsRef);
  }

  /** As they are stored, oldest first. */
  attempts(jobId: string): Promise<AttemptRow[]> {
    return this.kernel.db<AttemptRow>('attempts').where({ job_id: jobId }).orderBy('attempt');
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.close()));
    await this.kernel.close();
  }

  /** A connected agent. */
  async agent(hello: Partial<Hello> = {}): Promise<FakeAgent> {
    const agent = new FakeAgent({ url: this.kernel.url, hello });
    this.#agents.push(agent);
    await agent.connect();
    await until(() => this.isConnected(agent.nodeId));
    return agent;
  }

  /** The same agent, on this server. */
  async adopt(other: FakeAgent, hello: Partial<Hello> = {}): Promise<FakeAgent> {
    const agent = new FakeAgent({ url: this.kernel.url, hello: { node_id: other.nodeId, ...hello } });
    agent.secret = other.secret;
    this.#agents.push(agent);
    await agent.connect();
    return agent;
  }

  async isConnected(nodeId: string): Promise<boolean> {
    return (await this.nodes.capacity(this.kernel.db)).some(
      ({ id, connected }) => id === nodeId && connected,
    );
  }

  async submit(body: Partial<JobSubmit> = {}): Promise<Job> {
    const answer = await this.request('POST', '/jobs', { command: ['train'], ...body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body as Job;
  }

  request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return this.kernel.request(method, path, {
      token: 'write',
      headers,
      ...(body !== undefined && { body }),
    });
  }

  async job(id: string): Promise<Job> {
    return (await this.request('GET', `/jobs/${id}`)).body as Job;
  }

  reach(id: string, status: JobStatus): Promise<Job> {
    return this.when(id, (job) => job.status === status);
  }

  /** The job, as soon as that holds of it. */
  async when(id: string, holds: (job: Job) => boolean): Promise<Job> {
    const found = await until(async () => {
      const job = await this.job(id);
      return holds(job) ? job : null;
    });
    return found!;
  }

  async events(job: Job, type?: string): Promise<EventRecord[]> {
    const filter = type === undefined ? '' : `&type=${type}`;
    const { body } = await this.request('GET', `/events?job_id=${job.id}${filter}`);
    return (body as { items: EventRecord[] }).items.toReversed();
  }

  /** `job_id` of each slot of the node. */
  async slots(agent: FakeAgent): Promise<(string | null)[]> {
    const node = await this.nodes.get(this.kernel.db, agent.nodeId);
    return node?.slots.map(({ job_id }) => job_id) ?? [];
  }

  /** The states that observers saw the job go through. */
  history(job: Job): JobStatus[] {
    return this.changes.filter(({ after }) => after.id === job.id).map(({ after }) => after.status);
  }
}

/** A plugin that only taps hooks of the jobs. */
export function tapping(name: string, setup: (ctx: PluginContext) => void): Plugin {
  return definePlugin({ name, requires: ['jobs'], setup })();
}

/** Gives each attempt a run, as the runs plugin does: its process is told which, and it is there once the process is. */
export const numberingRuns = tapping('numbering-runs', (ctx) => {
  ctx.tap(attemptPrepare, (plan) => ({ ...plan, run_id: `run_${plan.attempt}` }));
  ctx.tap(jobTransition, ({ after }) =>
    after.started_at === null ? undefined : { run_id: `run_${after.attempt}` },
  );
});

/** A directory for two servers one after the other; `remove` it at the end. */
export function createDataDir(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'svc-jobs-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export const EXIT_OK = { kind: 'exited', code: 0 } as const;
export const KILLED = { kind: 'signaled', signal: 'SIGTERM', code: -15 } as const;
