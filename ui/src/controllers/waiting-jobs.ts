import type { Evaluation } from '@svc/contract';
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Api } from '../data/api.js';
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

  /** Reads them again; answers whether there are any. */
  async read(evaluations: readonly Evaluation[], signal: AbortSignal): Promise<boolean> {
    const waiting = evaluations.filter(({ status }) => status === 'QUEUED').slice(0, MOST_JOBS);
    const jobs = await Promise.all(
      waiting.map(({ job_id: jobId }) => getJob(this.#api(), jobId, signal).catch(() => null)),
    );
    if (signal.aborted) return true;
    this.jobs = new Map(jobs.flatMap((job) => (job ? [[job.id, job] as const] : [])));
    this.#host.requestUpdate();
    return waiting.length > 0;
  }
}
