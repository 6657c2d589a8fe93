import type { Evaluation } from '@svc/contract';
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { unlessMissing, type Api } from '../data/api.js';
import { getJob, type Job } from '../data/jobs.js';

/** An evaluation says no more than that it has not ended; its job knows whether it runs or why it waits. */
const MOST_JOBS = 20;

/** The jobs of evaluations that have not ended, by id. */
export class WaitingJobs implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  jobs: ReadonlyMap<string, Job> = new Map();

  constructor(host: ReactiveControllerHost, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostConnected(): void {}

  /** Reads them again, and keeps those that cannot be read now; answers whether there are any. */
  async read(evaluations: readonly Evaluation[], signal: AbortSignal): Promise<boolean> {
    const waiting = evaluations.filter(({ status }) => status === 'QUEUED').slice(0, MOST_JOBS);
    const read = (id: string) =>
      unlessMissing(getJob(this.#api(), id, signal)).catch(() => this.jobs.get(id) ?? null);
    const jobs = await Promise.all(waiting.map(({ job_id: jobId }) => read(jobId)));
    if (signal.aborted) return true;
    this.jobs = new Map(jobs.flatMap((job) => (job ? [[job.id, job] as const] : [])));
    this.#host.requestUpdate();
    return waiting.length > 0;
  }
}
