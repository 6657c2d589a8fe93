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
/** Runs of which it is known which metrics were found, and are not reported: what makes the watch for reports cheap. */
const MAX_WATCHED_RUNS = 10_000;

/**
 * Decides for each metric of a run, once, whether the training reports it itself: then points of it that are found in files are left out. A
 * metric that it begins to report later is left out from then on; what was found before stays.
 */
export class FoundMetrics {
  readonly #watched = new Map<string, Set<string>>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db'>,
    private readonly metrics: Pick<Metrics, 'extremes'>,
  ) {}

  /** Those points that are to be stored. */
  async select(runId: string, points: readonly MetricPoint[]): Promise<readonly MetricPoint[]> {
    const names = [...new Set(points.map(({ name }) => name))];
    const known = await this.#load(runId, names);
    const fresh = new Map<string, boolean>();
    for (const name of names) if (!known.has(name)) fresh.set(name, await this.#isReported(runId, name));
    if (fresh.size > 0) await this.#save(runId, fresh);
    for (const [name, isReported] of fresh) known.set(name, isReported);
    this.#watch(runId, known);
    return points.filter(({ name }) => known.get(name) === false);
  }

  /** Called with all points that were stored. */
  async noteReported(runId: string, points: readonly MetricPoint[]): Promise<void> {
    const watched = this.#watched.get(runId);
    if (watched === undefined) return;
    const names = points.filter(({ seq, name }) => seq < FOUND_SEQ_START && watched.has(name));
    const reported = [...new Set(names.map(({ name }) => name))];
    for (const name of reported) {
      watched.delete(name);
      await foundMetrics(this.ctx.db).where({ run_id: runId, name }).update({ is_reported: true });
    }
  }

  async #load(runId: string, names: readonly string[]): Promise<Map<string, boolean>> {
    const known = new Map<string, boolean>();
    for (let first = 0; first < names.length; first += NAMES_PER_STATEMENT) {
      const some = names.slice(first, first + NAMES_PER_STATEMENT);
      const rows = await foundMetrics(this.ctx.db).where({ run_id: runId }).whereIn('name', some);
      for (const { name, is_reported } of rows) known.set(name, Boolean(is_reported));
    }
    return known;
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

  #watch(runId: string, known: ReadonlyMap<string, boolean>): void {
    if (this.#watched.size >= MAX_WATCHED_RUNS && !this.#watched.has(runId)) this.#watched.clear();
    const watched = this.#watched.get(runId) ?? new Set();
    for (const [name, isReported] of known) if (!isReported) watched.add(name);
    this.#watched.set(runId, watched);
  }
}

function foundMetrics(db: Db) {
  return db<FoundMetricRow>('found_metrics');
}
