import { FakeAgent } from '@svc/agent/testing';
import {
  type AttemptKey,
  type Checkpoint,
  type Evaluation,
  type EvaluationResult,
  type EventRecord,
  type Exit,
  type Hello,
  type Job,
  type Run,
} from '@svc/contract';
import type { Clock, Plugin } from '@svc/kernel';
import { createTestKernel, until, type TestDatabase, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { checkpoints } from '@svc/plugin-checkpoints';
import { evaluations } from '@svc/plugin-evaluations';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { nodes, nodesRef } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { expect } from 'chai';

export const OK: Exit = { kind: 'exited', code: 0 };
export const RESULT: EvaluationResult = { metrics: { 'eval/acc': 0.91, loss: 'NaN' }, runtime_s: 12.5 };

export interface LabOptions {
  readonly database?: TestDatabase;
  readonly clock?: Clock;
  readonly options?: Parameters<typeof evaluations>[0];
  readonly jobs?: Parameters<typeof jobs>[0];
  readonly nodes?: Parameters<typeof nodes>[0];
  /** Of the test. */
  readonly plugin?: Plugin;
}

/** A real server with evaluations and what they require, and agents that do what the test says. */
export class Lab {
  readonly #agents: FakeAgent[] = [];
  #messages = 0;

  private constructor(
    readonly kernel: TestKernel,
    readonly tokens: Readonly<Record<'read' | 'write' | 'agent' | 'sdk', string>>,
  ) {}

  static async open({ options, plugin, jobs: queue, nodes: timing, ...rest }: LabOptions): Promise<Lab> {
    const kernel = await createTestKernel({
      plugins: [
        auth(),
        projects(),
        events(),
        nodes(timing),
        jobs({ retry_backoff_s: 0, ...queue }),
        runnerProcess(),
        runs(),
        checkpoints(),
        evaluations(options),
        ...(plugin ? [plugin] : []),
      ],
      ...rest,
    });
    const tokens: Record<string, string> = {};
    for (const scope of ['read', 'write', 'agent', 'sdk'] as const) {
      const draft = { name: scope, scope, expires_at: null };
      tokens[scope] = (await createToken(kernel.db, draft, Date.now())).token;
    }
    return new Lab(kernel, tokens as Lab['tokens']);
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.close()));
    await this.kernel.close();
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    token = this.tokens.write,
  ) {
    return this.kernel.request(method, path, { token, headers, ...(body !== undefined && { body }) });
  }

  async get<T>(path: string): Promise<T> {
    const { status, body } = await this.request('GET', path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as T;
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const answer = await this.request('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body as T;
  }

  async agent(hello: Partial<Hello> = {}): Promise<FakeAgent> {
    const agent = new FakeAgent({ url: this.kernel.url, token: this.tokens.agent, hello });
    this.#agents.push(agent);
    await agent.connect();
    const nodeService = this.kernel.use(nodesRef);
    await until(async () =>
      (await nodeService.capacity(this.kernel.db)).some(
        ({ id, connected }) => id === agent.nodeId && connected,
      ),
    );
    return agent;
  }

  /** A run of a training job on that agent. The job still runs. */
  async train(agent: FakeAgent, body: object = {}): Promise<{ job: Job; run: Run; key: AttemptKey }> {
    const job = await this.post<Job>('/jobs', { command: ['train'], name: 'digits', ...body });
    const key = await agent.start({ job_id: job.id });
    const run = await until(async () => (await this.get<{ items: Run[] }>(`/jobs/${job.id}/runs`)).items[0]);
    return { job, run: run!, key };
  }

  /** Its job has ended, so that its slot is free. */
  async trained(agent: FakeAgent, body: object = {}): Promise<{ job: Job; run: Run }> {
    const { job, run, key } = await this.train(agent, body);
    agent.ended(key, OK);
    await this.reach(job.id, 'SUCCEEDED');
    return { job, run };
  }

  createRun(body: object = { name: 'outside' }): Promise<Run & { ingest_token: string }> {
    return this.post('/runs', body);
  }

  checkpoint(run: Run, step: number | null = 120, path = `/out/checkpoint-${step}`): Promise<Checkpoint> {
    return this.post<Checkpoint>(`/runs/${run.id}/checkpoints`, { path, ...(step !== null && { step }) });
  }

  evaluate(checkpoint: Checkpoint, body: object = {}): Promise<Evaluation> {
    return this.post<Evaluation>(`/checkpoints/${checkpoint.id}/evaluations`, { command: ['eval'], ...body });
  }

  evaluation(id: string): Promise<Evaluation> {
    return this.get<Evaluation>(`/evaluations/${id}`);
  }

  job(id: string): Promise<Job> {
    return this.get<Job>(`/jobs/${id}`);
  }

  async reach(jobId: string, status: Job['status']): Promise<Job> {
    return (await until(async () => {
      const job = await this.job(jobId);
      return job.status === status ? job : null;
    }))!;
  }

  async settle(id: string, status: Evaluation['status']): Promise<Evaluation> {
    return (await until(async () => {
      const evaluation = await this.evaluation(id);
      return evaluation.status === status ? evaluation : null;
    }))!;
  }

  /** Sends a result as the agent half does, and waits until the server has taken it. */
  async send(agent: FakeAgent, key: AttemptKey, message: unknown = RESULT): Promise<{ refused: unknown[] }> {
    const { job_id, attempt } = key;
    const text = JSON.stringify({ message, attempt: { job_id, attempt } });
    const file = `${(this.#messages += 1)}.jsonl`;
    agent.send({
      type: 'channel',
      channel: 'evaluations.results',
      file,
      from: 0,
      lines: [{ to: text.length, text }],
    });
    return agent.take('channel_ack', { file });
  }

  async finished(id: string): Promise<EventRecord[]> {
    const { items } = await this.get<{ items: EventRecord[] }>('/events?type=EVALUATION_FINISHED&limit=1000');
    return items.filter(({ data }) => (data as { evaluation_id?: string }).evaluation_id === id).toReversed();
  }
}
