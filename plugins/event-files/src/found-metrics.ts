import { FOUND_SEQ_START, type MetricPoint } from '@svc/contract';
import type { Db, PluginContext } from '@svc/kernel';
import type { Metrics } from '@svc/plugin-metrics';

interface FoundMetricRow {
  readonly run_id: string;
  readonly name: string;
  /** SQLite answers 0 or 1. */
  readonly is_reported: boolean | number;
}

const NAMES_PER_STATEMENT = 100;
/** Runs whose rows are kept in memory: what makes the watch for reports cheap. */
const MAX_KNOWN_RUNS = 10_000;

/** By name, whether the training reports it itself: of the metrics of a run that were found. */
type Known = Map<string, boolean>;

/**
 * Decides for each metric of a run, once, whether the training reports it itself: then points of it that are found in files are left out, and those that
 * were found before are removed.
 */
export class FoundMetrics {
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db'>,
    private readonly metrics: Pick<Metrics, 'extremes' | 'remove'>,
  ) {}

  /** Those points that are to be stored. */
  async select(runId: string, points: readonly MetricPoint[]): Promise<readonly MetricPoint[]> {
    const known = await this.#knownOf(runId);
    const fresh: Known = new Map();
    for (const { name } of points)
      if (!known.has(name) && !fresh.has(name)) fresh.set(name, await this.#isReported(runId, name));
    await this.#save(runId, fresh);
    for (const [name, isReported] of fresh) known.set(name, isReported);
    return points.filter(({ name }) => known.get(name) === false);
  }

  /** Called with all points that were stored. */
  async noteStored(runId: string, points: readonly MetricPoint[]): Promise<void> {
    const known = await this.#knownOf(runId);
    // Found points of what is reported were on their way when the training reported it first.
    const doubled = points.filter(({ seq, name }) => known.get(name) === seq >= FOUND_SEQ_START);
    for (const name of new Set(doubled.map(({ name }) => name))) {
      known.set(name, true);
      await foundMetrics(this.ctx.db).where({ run_id: runId, name }).update({ is_reported: true });
      await this.metrics.remove(runId, name, FOUND_SEQ_START);
    }
  }

  async #knownOf(runId: string): Promise<Known> {
    const known = this.#known.get(runId);
    if (known !== undefined) return known;
    const rows = await foundMetrics(this.ctx.db).where({ run_id: runId }).select('name', 'is_reported');
    if (this.#known.size >= MAX_KNOWN_RUNS) this.#known.clear();
    const loaded: Known = new Map(rows.map(({ name, is_reported }) => [name, Boolean(is_reported)]));
    // Another call may have loaded it meanwhile.
    if (!this.#known.has(runId)) this.#known.set(runId, loaded);
    return this.#known.get(runId)!;
  }

  /** A metric that exists before anything of it was found is the training's. */
  async #isReported(runId: string, name: string): Promise<boolean> {
    return (await this.metrics.extremes([runId], name)).size > 0;
  }

  async #save(runId: string, known: ReadonlyMap<string, boolean>): Promise<void> {
    const rows = [...known].map(([name, is_reported]) => ({ run_id: runId, name, is_reported }));
    for (let first = 0; first < rows.length; first += NAMES_PER_STATEMENT) {
      await foundMetrics(this.ctx.db)
        .insert(rows.slice(first, first + NAMES_PER_STATEMENT))
        .onConflict(['run_id', 'name'])
        .ignore();
    }
  }
}

function foundMetrics(db: Db) {
  return db<FoundMetricRow>('found_metrics');
}
