import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';

const MAX_JOBS = 10_000;

type NodeId = Promise<string | null>;

/** Caches the node that each attempt was dispatched to until its job changes: an agent sends many frames in between. */
export class AttemptNodes {
  /** By job, oldest entry first; then by attempt. */
  readonly #known = new Map<string, Map<number, NodeId>>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db'>,
    private readonly jobs: Jobs,
  ) {}

  /** null when there is no such attempt, or it was not dispatched. */
  nodeOf(key: AttemptKey): NodeId {
    return this.#known.get(key.job_id)?.get(key.attempt) ?? this.#ask(key);
  }

  jobChanged(jobId: string): void {
    this.#known.delete(jobId);
  }

  #ask(key: AttemptKey): NodeId {
    const { job_id, attempt } = key;
    const attempts = this.#known.get(job_id) ?? new Map<number, NodeId>();
    const asked = this.jobs.attempt(this.ctx.db, key).then((found) => found?.node_id ?? null);
    this.#known.set(job_id, attempts.set(attempt, asked));
    asked.catch(() => attempts.delete(attempt));
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_JOBS && oldest !== undefined) this.#known.delete(oldest);
    return asked;
  }
}
