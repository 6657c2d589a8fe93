import {
  newId,
  type Checkpoint,
  type EvaluationResult,
  type EventType,
  type Experiment,
  type MetricValue,
  type Protocol,
  type Run,
} from '@svc/contract';
import { createTestKernel, type TestDatabase, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { checkpoints } from '@svc/plugin-checkpoints';
import { evaluations } from '@svc/plugin-evaluations';
import { events, eventsRef } from '@svc/plugin-events';
import { jobs, jobsRef } from '@svc/plugin-jobs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { ranking } from '@svc/plugin-ranking';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { expect } from 'chai';
import { endEvaluation, storeResult } from '../../../evaluations/src/store.js';

type Labels = Partial<Protocol>;

/** A real server with everything that a ranking reads. */
export class Lab {
  #seq = 0;

  private constructor(
    readonly kernel: TestKernel,
    readonly token: string,
  ) {}

  static async open(database: TestDatabase): Promise<Lab> {
    const kernel = await createTestKernel({
      plugins: [
        auth(),
        projects(),
        events(),
        nodes(),
        jobs(),
        runnerProcess(),
        runs(),
        metricDefinitions(),
        metrics(),
        checkpoints(),
        evaluations(),
        ranking(),
      ],
      database,
    });
    const draft = { name: 'write', scope: 'write', expires_at: null } as const;
    return new Lab(kernel, (await createToken(kernel.db, draft, Date.now())).token);
  }

  close(): Promise<void> {
    return this.kernel.close();
  }

  request(method: string, path: string, body?: unknown) {
    return this.kernel.request(method, path, { token: this.token, ...(body !== undefined && { body }) });
  }

  /** A successful answer. */
  async get<T>(path: string): Promise<T> {
    const { status, body } = await this.request('GET', path);
    expect(status, `${path}: ${JSON.stringify(body)}`).to.equal(200);
    return body as T;
  }

  async refused(path: string, status: number, code: string): Promise<{ message: string; details: Details }> {
    const answer = await this.request('GET', path);
    expect([answer.status, answer.body.error?.code], `${path}: ${JSON.stringify(answer.body)}`).to.deep.equal(
      [status, code],
    );
    return answer.body.error as { message: string; details: Details };
  }

  async set(method: string, path: string, body: unknown): Promise<void> {
    const answer = await this.request(method, path, body);
    expect([200, 201], JSON.stringify(answer.body)).to.include(answer.status);
  }

  async experiment(): Promise<Experiment> {
    const { body, status } = await this.request('POST', '/experiments', {
      name: `of ${newId('experiment')}`,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body as Experiment;
  }

  async run(experiment: Experiment | null = null, name = 'run'): Promise<Run> {
    const place = experiment ? { experiment: experiment.id } : {};
    return (await this.request('POST', '/runs', { name, ...place })).body as Run;
  }

  /** Points of one metric, as pairs of step and value. */
  async log(
    run: Run,
    metric: string,
    points: readonly (readonly [step: number, value: MetricValue])[],
  ): Promise<void> {
    const all = points.map(([step, value]) => ({ seq: (this.#seq += 1), name: metric, step, value }));
    await this.set('POST', `/runs/${run.id}/metrics:batch`, { points: all });
  }

  async checkpoint(run: Run, step: number | null): Promise<Checkpoint> {
    const body = { path: `/out/${newId('checkpoint')}`, ...(step !== null && { step }) };
    return (await this.request('POST', `/runs/${run.id}/checkpoints`, body)).body as Checkpoint;
  }

  /** An evaluation that has SUCCEEDED. */
  async evaluated(
    checkpoint: Checkpoint,
    values: EvaluationResult['metrics'],
    labels: Labels = {},
    status: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED',
  ): Promise<string> {
    const path = `/checkpoints/${checkpoint.id}/evaluations`;
    const { body } = await this.request('POST', path, { command: ['eval.sh', 'now'], ...labels });
    const { id, job_id } = body as { id: string; job_id: string };
    expect(await this.kernel.use(jobsRef).get(this.kernel.db, job_id)).to.not.equal(null);
    await storeResult(this.kernel.db, id, 1, { metrics: values, runtime_s: 1 });
    await endEvaluation(this.kernel.db, id, { status, error: null, finished_at: Date.now() });
    return id;
  }

  async event(run: Run, type: EventType): Promise<void> {
    const draft = { type, title: type, run_id: run.id };
    await this.kernel.ctx.transaction((tx) => this.kernel.use(eventsRef).append(tx, draft));
  }
}

export interface Details {
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly protocols?: readonly (Protocol & { evaluations: number })[];
}
