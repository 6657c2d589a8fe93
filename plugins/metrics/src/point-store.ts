import { dialectOf, HttpError, readRawSqlite, withRawSqlite, type Db } from '@svc/kernel';
import type { RunProgress, Runs } from '@svc/plugin-runs';
import type { PointRows } from './point-rows.js';
import { withoutPoints } from './series-writer.js';
import { writePoints, type PointsWrite, type PointsWritten, type TimedPoint } from './point-writer.js';
import { PostgresRows } from './postgres-rows.js';
import { SqliteRows } from './sqlite-rows.js';

/** The outcome of one batch of a group. */
export type WriteOutcome = { readonly written: PointsWritten } | { readonly error: unknown };

/** Called in the transaction of a group with the new progress of each run, and the names of metrics that are new to a run. */
export type OnWritten = (
  trx: Db,
  written: readonly { readonly run_id: string; readonly progress: RunProgress }[],
  createdNames: readonly string[],
) => Promise<void>;

const DEADLOCK = '40P01';
/** After these errors the whole transaction is rolled back, with its savepoints. */
const ENDS_TRANSACTION = [DEADLOCK, 'SQLITE_FULL'];
const DEADLOCK_TRIES = 5;

/** The points of all runs. `db` is looked up at each use: the database opens after the plugin's setup. */
export class PointStore {
  constructor(
    private readonly source: { readonly db: Db },
    private readonly runs: Pick<Runs, 'hold'>,
    private readonly onWritten: OnWritten,
  ) {}

  /**
   * Writes a group of batches in one transaction, in this order. A refused batch stores nothing and does not affect the others. Rejects
   * when the transaction cannot be committed: then none of them is stored.
   */
  async write(group: readonly PointsWrite[]): Promise<readonly WriteOutcome[]> {
    return this.#retried(() => this.#writeOnce(group));
  }

  /** Removes the points of a metric with this seq or a higher one, unless it has no others. Their seqs stay taken. */
  async remove(runId: string, name: string, fromSeq: number): Promise<void> {
    await this.#retried(() =>
      this.source.db.transaction(async (trx) => {
        const rows = await rowsIn(trx);
        const held = await this.runs.hold(trx, [runId]);
        const known = held.has(runId) ? await rows.findRun(runId) : null;
        if (known === null) return;
        // Locks it.
        const run = await rows.openRun(runId, known.received_at);
        const [series] = await rows.findSeries(run.key, [name]);
        if (series) await rows.updateSeries([await withoutPoints(rows, series, ({ seq }) => seq >= fromSeq)]);
      }),
    );
  }

  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if ((error as { code?: string }).code !== DEADLOCK || tries === DEADLOCK_TRIES) throw error;
      }
    }
  }

  /** Several reads of one snapshot. */
  read<T>(use: (rows: PointRows) => Promise<T>): Promise<T> {
    const { db } = this.source;
    if (dialectOf(db) === 'sqlite') return readRawSqlite(db, (connection) => use(new SqliteRows(connection)));
    const snapshot = { isolationLevel: 'repeatable read', readOnly: true } as const;
    return db.transaction((trx) => use(new PostgresRows(trx)), snapshot);
  }

  #writeOnce(group: readonly PointsWrite[]): Promise<readonly WriteOutcome[]> {
    return this.source.db.transaction(async (trx) => {
      const rows = await rowsIn(trx);
      const outcomes: WriteOutcome[] = [];
      const held = await this.runs.hold(trx, [...new Set(group.map(({ run_id }) => run_id))]);
      for (const batch of group)
        outcomes.push(held.has(batch.run_id) ? await writeInSavepoint(rows, batch) : toMissing(batch));
      await this.onWritten(trx, progressByRun(group, outcomes), createdNames(outcomes));
      return outcomes;
    });
  }
}

/** Every seq that was taken is a point, or was one that has been removed. */
export async function countPoints(db: Db, runIds: readonly string[]): Promise<number> {
  const row = await db('metric_seq_ranges')
    .join('metric_runs', 'metric_runs.key', 'metric_seq_ranges.run_key')
    .whereIn('metric_runs.run_id', [...runIds])
    .first(db.raw('coalesce(sum(to_seq - from_seq + 1), 0) as points'));
  return Number((row as { points: unknown } | undefined)?.points);
}

async function rowsIn(trx: Db): Promise<PointRows> {
  if (dialectOf(trx) === 'postgres') return new PostgresRows(trx);
  // The connection belongs to the transaction until that ends.
  return new SqliteRows(await withRawSqlite(trx, (connection) => connection));
}

async function writeInSavepoint(rows: PointRows, batch: PointsWrite): Promise<WriteOutcome> {
  await rows.savepoint('set');
  try {
    const written = await writePoints(rows, batch);
    await rows.savepoint('keep');
    return { written };
  } catch (error) {
    if (ENDS_TRANSACTION.includes((error as { code?: string }).code ?? '')) throw error;
    await rows.savepoint('undo');
    await rows.savepoint('keep');
    return { error };
  }
}

/** The run existed when the batch was let in, and has been deleted since. */
function toMissing({ run_id }: PointsWrite): WriteOutcome {
  return { error: new HttpError('not_found', `no run "${run_id}"`) };
}

function createdNames(outcomes: readonly WriteOutcome[]): string[] {
  return [...new Set(outcomes.flatMap((outcome) => ('written' in outcome ? outcome.written.created : [])))];
}

function progressByRun(group: readonly PointsWrite[], outcomes: readonly WriteOutcome[]) {
  const byRun = new Map<string, RunProgress>();
  group.forEach(({ run_id }, index) => {
    const outcome = outcomes[index] as WriteOutcome;
    const points = 'written' in outcome ? outcome.written.accepted : [];
    if (points.length > 0) byRun.set(run_id, progressOf(points, byRun.get(run_id)));
  });
  return [...byRun].map(([run_id, progress]) => ({ run_id, progress }));
}

function progressOf(
  points: readonly TimedPoint[],
  before: RunProgress = { step: null, epoch: null },
): RunProgress {
  let { step, epoch } = before;
  for (const point of points) {
    if (step === null || point.step > step) step = point.step;
    if (point.epoch !== undefined && (epoch === null || point.epoch > epoch)) epoch = point.epoch;
  }
  return { step, epoch };
}
