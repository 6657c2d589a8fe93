import { SCOPES, type Job, type JobSubmit, type Run, type Scope } from '@svc/contract';
import { definePlugin, type Clock, type Plugin } from '@svc/kernel';
import {
  createTestKernel,
  until,
  type TestAnswer,
  type TestDatabase,
  type TestKernel,
  type TestKernelOptions,
} from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { events } from '@svc/plugin-events';
import { jobs, jobsRef } from '@svc/plugin-jobs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { Type } from 'typebox';
import { runs } from '../../src/index.js';
import { JobAgent } from './job-agent.js';

/** The server half of a runner; the fake agent plays the other one. */
const scriptedRunner = definePlugin({
  name: 'scripted-runner',
  setup(ctx) {
    const optionsSchema = Type.Object({}, { additionalProperties: true });
    ctx.hooks.runners.tap(ctx.name, (runners) => {
      runners.add({ name: 'process', optionsSchema, placement: 'slots', plan: () => ({}) });
    });
  },
});

export interface RigOptions {
  readonly database?: TestDatabase;
  readonly plugins?: readonly Plugin[];
  readonly dataDir?: string;
  readonly clock?: Clock;
  readonly limits?: NonNullable<TestKernelOptions['limits']>;
}

/** The plugins that runs and their metrics stand on, as in production, with agents played by the test. */
export class Rig {
  private readonly agents: JobAgent[] = [];

  private constructor(
    readonly kernel: TestKernel,
    readonly tokens: Readonly<Record<Scope, string>>,
  ) {}

  static async start({ plugins = [], ...options }: RigOptions = {}): Promise<Rig> {
    const all = [
      auth(),
      projects(),
      events(),
      nodes(),
      jobs(),
      runs(),
      metricDefinitions(),
      ...plugins,
      scriptedRunner(),
    ];
    const kernel = await createTestKernel({ ...options, plugins: all });
    const tokens: Record<string, string> = {};
    for (const scope of SCOPES) {
      const draft = { name: scope, scope, expires_at: null };
      tokens[scope] = (await createToken(kernel.db, draft, Date.now())).token;
    }
    return new Rig(kernel, tokens as Record<Scope, string>);
  }

  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.close()));
    await this.kernel.close();
  }

  async agent(): Promise<JobAgent> {
    const agent = new JobAgent(this.kernel.url, this.tokens.agent);
    this.agents.push(agent);
    await agent.connect();
    return agent;
  }

  get(path: string, token = this.tokens.read): Promise<TestAnswer> {
    return this.kernel.request('GET', path, { token });
  }

  post(path: string, body?: unknown, token = this.tokens.write): Promise<TestAnswer> {
    return this.kernel.request('POST', path, { token, ...(body !== undefined && { body }) });
  }

  patch(path: string, body: unknown, token = this.tokens.write): Promise<TestAnswer> {
    return this.kernel.request('PATCH', path, { token, body });
  }

  /** The run and its token. */
  async createRun(
    body: object = {},
  ): Promise<Run & { ingest_token: string; project_id: string; experiment_id: string }> {
    const answer = await this.post('/runs', body, this.tokens.sdk);
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }

  async submit(body: Partial<JobSubmit> = {}): Promise<Job> {
    const answer = await this.post('/jobs', {
      command: ['train'],
      name: 'train',
      resources: { cpu_only: true },
      ...body,
    });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body as Job;
  }

  async job(id: string): Promise<Job> {
    const job = await this.kernel.use(jobsRef).get(this.kernel.db, id);
    if (!job) throw new Error(`no job ${id}`);
    return job;
  }

  /** Resolves with the job once it has that status. */
  async reach(id: string, status: Job['status']): Promise<Job> {
    await until(async () => (await this.job(id)).status === status);
    return this.job(id);
  }
}
