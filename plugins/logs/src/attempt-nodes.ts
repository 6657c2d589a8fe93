import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';

const MAX_JOBS = 10_000;

/** By the number of the attempt; null: it was not dispatched. */
type NodesOfAttempts = Promise<ReadonlyMap<number, string | null>>;

/**
 * Caches the nodes that the attempts of a job were dispatched to, until the job changes: an agent sends many frames in between. One query answers
 * for every attempt number of a job, also for those that there are not.
 */
export class AttemptNodes {
  /** By job, oldest entry first. */
  readonly #known = new Map<string, NodesOfAttempts>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db'>,
    private readonly jobs: Jobs,
  ) {}

  /** Whether `nodeOf` answers without a query. */
  knows(jobId: string): boolean {
    return this.#known.has(jobId);
  }

  /** null when there is no such attempt, or it was not dispatched. */
  async nodeOf({ job_id, attempt }: AttemptKey): Promise<string | null> {
    const nodes = await (this.#known.get(job_id) ?? this.#ask(job_id));
    return nodes.get(attempt) ?? null;
  }

  jobChanged(jobId: string): void {
    this.#known.delete(jobId);
  }

  #ask(jobId: string): NodesOfAttempts {
    const asked = this.jobs.nodesOfAttempts(this.ctx.db, jobId);
    this.#known.set(jobId, asked);
    asked.catch(() => {
      if (this.#known.get(jobId) === asked) this.#known.delete(jobId);
    });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_JOBS && oldest !== undefined) this.#known.delete(oldest);
    return asked;
  }
}
