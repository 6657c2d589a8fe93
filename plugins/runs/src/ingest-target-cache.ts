import type { Caller } from '@svc/kernel';
import type { Auth, IngestTarget } from '@svc/plugin-auth';

const MAX_KNOWN = 10_000;

type Find = (caller: Caller, id: string) => Promise<IngestTarget>;

/**
 * Caches the runs that were written to most recently. The cached fields, which decide who may write to a run, never change. A run may be
 * deleted while it is cached: then the write fails.
 */
export class IngestTargetCache {
  /** By the id as the caller has written it, least recently used first. */
  readonly #known = new Map<string, IngestTarget>();

  /** `find` makes the complete check: for runs that are not cached, and to refuse with the right error. */
  constructor(
    private readonly auth: Pick<Auth, 'mayIngest'>,
    private readonly find: Find,
  ) {}

  async require(caller: Caller, id: string): Promise<IngestTarget> {
    const known = this.#known.get(id);
    const target = known && this.auth.mayIngest(caller, known) ? known : await this.find(caller, id);
    this.#remember(id, target);
    return target;
  }

  #remember(id: string, { id: run_id, job_id, attempt }: IngestTarget): void {
    this.#known.delete(id);
    this.#known.set(id, { id: run_id, job_id, attempt });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}
