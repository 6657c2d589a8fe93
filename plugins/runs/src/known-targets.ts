import type { Caller } from '@svc/kernel';
import type { Auth, IngestTarget } from '@svc/plugin-auth';

const MAX_KNOWN = 10_000;

type Find = (caller: Caller, id: string) => Promise<IngestTarget>;

/**
 * The runs that were written to last, in memory: what decides who may write to a run never changes. A run may be deleted while it
 * is known, which who writes to it finds out.
 */
export class KnownTargets {
  /** By id as the caller writes it, the one asked for longest ago first. */
  readonly #known = new Map<string, IngestTarget>();

  /** `find` is the whole way: for runs that are not known, and to refuse. */
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
