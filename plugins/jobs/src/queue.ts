import type { Db } from '@svc/kernel';
import {
  firstToRun,
  IDS_PER_STATEMENT,
  loadQueue,
  storeHeads,
  storeReasons,
  type QueuedRow,
} from './queue-store.js';

/**
 * The queue, kept in memory between passes, so that a pass reads only what has changed. A copy and nothing else: what is not
 * `note`d here (another server's doing) is seen when it is next read as a whole.
 */
export class Queue {
  #rows: readonly QueuedRow[] | null = null;
  #changed = new Set<string>();

  /** Once a change has committed of a job that is QUEUED or was. */
  note(jobId: string): void {
    this.#changed.add(jobId);
  }

  /** First to run first. `whole`: takes nothing for granted. */
  async read(db: Db, { whole }: { whole: boolean }): Promise<readonly QueuedRow[]> {
    const changed = this.#changed;
    const known = whole || changed.size > IDS_PER_STATEMENT ? null : this.#rows;
    this.#changed = new Set();
    // Should the reading fail, the next starts anew.
    this.#rows = null;
    const rows = known ? await this.#update(db, known, changed) : await loadQueue(db);
    this.#rows = rows;
    return [...rows];
  }

  /** Stores the sentences that are other than those that the rows have. */
  async tell(db: Db, rows: readonly QueuedRow[], reasons: ReadonlyMap<string, string>): Promise<void> {
    if (reasons.size === 0) return;
    const told = rows.filter(({ id, pending_reason }) => {
      const reason = reasons.get(id);
      return reason !== undefined && reason !== pending_reason;
    });
    if (told.length === 0) return;
    await storeReasons(db, new Map(told.map(({ id }) => [id, reasons.get(id)!])));
    for (const row of told) row.pending_reason = reasons.get(row.id)!;
  }

  async setHeads(db: Db, rows: readonly QueuedRow[], ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return;
    await storeHeads(db, ids, at);
    const heads = new Set(ids);
    for (const row of rows) if (heads.has(row.id)) row.head_since = at;
  }

  async #update(
    db: Db,
    known: readonly QueuedRow[],
    changed: ReadonlySet<string>,
  ): Promise<readonly QueuedRow[]> {
    if (changed.size === 0) return known;
    const fresh = await loadQueue(db, [...changed]);
    return [...known.filter(({ id }) => !changed.has(id)), ...fresh].sort(firstToRun);
  }
}
