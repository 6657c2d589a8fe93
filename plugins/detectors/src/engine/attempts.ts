import type { AttemptKey, Job, WatchedJob } from '@svc/contract';
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

/** What detectors and their memories have of a job: its command alone may take a megabyte. */
export function toWatched({ command: _, env: _env, runner_options: _options, ...job }: Job): WatchedJob {
  return job;
}

/** Where attempts run, and for which run. */
export class Attempts {
  /** The newest attempt of each job, least recently used first. */
  readonly #newest = new Map<string, AttemptPlace>();
  readonly #running = new Map<string, AttemptPlace>();

  constructor(
    private readonly ctx: { readonly db: Db },
    private readonly jobs: Jobs,
  ) {}

  /** The jobs that were running when the server started. */
  async load(): Promise<WatchedJob[]> {
    const running: WatchedJob[] = [];
    let before: number | undefined;
    do {
      const page = await this.jobs.list(this.ctx.db, { status: 'RUNNING', limit: PAGE, before });
      running.push(...page.items.map(toWatched));
      before = page.next_before ?? undefined;
    } while (before !== undefined);
    for (const job of running) this.changed(job);
    return running;
  }

  changed({ id, attempt, run_id, node_id, status }: WatchedJob): void {
    const place = { job_id: id, attempt, run_id, node_id };
    this.#keep(place);
    if (status === 'RUNNING') this.#running.set(id, place);
    else this.#running.delete(id);
  }

  runningOn(nodeId: string): AttemptKey[] {
    return [...this.#running.values()].filter(({ node_id }) => node_id === nodeId);
  }

  /** null: there is no such attempt any more. */
  async find({ job_id, attempt }: AttemptKey): Promise<AttemptPlace | null> {
    const newest = this.#newest.get(job_id) ?? (await this.#load(job_id));
    if (newest === null || newest.attempt === attempt) return newest;
    return this.jobs.attempt(this.ctx.db, { job_id, attempt });
  }

  async #load(id: string): Promise<AttemptPlace | null> {
    const job = await this.jobs.get(this.ctx.db, id);
    if (job) this.changed(job);
    return this.#newest.get(id) ?? null;
  }

  #keep(place: AttemptPlace): void {
    this.#newest.delete(place.job_id);
    this.#newest.set(place.job_id, place);
    const [oldest] = this.#newest.keys();
    if (oldest !== undefined && this.#newest.size > MAX_JOBS) this.#newest.delete(oldest);
  }
}
