import type { AttemptKey, Job } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';

/** What the lines of an attempt are about. */
export interface AttemptPlace extends AttemptKey {
  readonly run_id: string | null;
  readonly node_id: string | null;
}

/** Jobs that are not running are kept for their last lines, so many of them. */
const MAX_JOBS = 5_000;
const PAGE = 500;

/** Where attempts run, and for which run. */
export class Attempts {
  /** Least recently used first; without the values of their environment. */
  readonly #jobs = new Map<string, Job>();
  readonly #running = new Map<string, Job>();

  constructor(
    private readonly ctx: { readonly db: Db },
    private readonly jobs: Jobs,
  ) {}

  /** The jobs that were running when the server started. */
  async load(): Promise<Job[]> {
    let before: number | undefined;
    do {
      const page = await this.jobs.list(this.ctx.db, { status: 'RUNNING', limit: PAGE, before });
      for (const job of page.items) this.changed(job);
      before = page.next_before ?? undefined;
    } while (before !== undefined);
    return [...this.#running.values()];
  }

  changed(job: Job): void {
    const kept = { ...job, env: {} };
    this.#keep(kept);
    if (job.status === 'RUNNING') this.#running.set(job.id, kept);
    else this.#running.delete(job.id);
  }

  runningOn(nodeId: string): Job[] {
    return [...this.#running.values()].filter(({ node_id }) => node_id === nodeId);
  }

  /** null: there is no such attempt any more. */
  async find({ job_id, attempt }: AttemptKey): Promise<AttemptPlace | null> {
    const job = this.#jobs.get(job_id) ?? (await this.#load(job_id));
    if (job === null) return null;
    if (job.attempt === attempt) return { job_id, attempt, run_id: job.run_id, node_id: job.node_id };
    return this.jobs.attempt(this.ctx.db, { job_id, attempt });
  }

  async #load(id: string): Promise<Job | null> {
    const job = await this.jobs.get(this.ctx.db, id);
    if (job) this.changed(job);
    return job;
  }

  #keep(job: Job): void {
    this.#jobs.delete(job.id);
    this.#jobs.set(job.id, job);
    const [oldest] = this.#jobs.keys();
    if (oldest !== undefined && this.#jobs.size > MAX_JOBS) this.#jobs.delete(oldest);
  }
}
