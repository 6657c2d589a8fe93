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
 * A copy of the queue in memory, so that a scheduling pass reads only the jobs that have changed. Changes that were not passed to `note`,
 * such as those of another server, are seen at the next read of the `whole` queue.
 */
export class Queue {
  #rows: readonly QueuedRow[] | null = null;
  #changed = new Set<string>();

  /** To be called after the commit of each change of a job that is QUEUED or was. */
  note(jobId: string): void {
    this.#changed.add(jobId);
  }

  /** First to run first. `whole`: reads every row anew instead of updating the copy. */
  async read(db: Db, { whole }: { whole: boolean }): Promise<readonly QueuedRow[]> {
    const changed = this.#changed;
    const known = whole || changed.size > IDS_PER_STATEMENT ? null : this.#rows;
    this.#changed = new Set();
    // If the read fails, the next one reads the whole queue.
    this.#rows = null;
    const rows = known ? await this.#update(db, known, changed) : await loadQueue(db);
    this.#rows = rows;
    return [...rows];
  }

  /** Stores the pending reasons that differ from those of the rows. */
  async setReasons(db: Db, rows: readonly QueuedRow[], reasons: ReadonlyMap<string, string>): Promise<void> {
    if (reasons.size === 0) return;
    const changed = rows.filter(({ id, pending_reason }) => {
      const reason = reasons.get(id);
      return reason !== undefined && reason !== pending_reason;
    });
    if (changed.length === 0) return;
    await storeReasons(db, new Map(changed.map(({ id }) => [id, reasons.get(id)!])));
    for (const row of changed) row.pending_reason = reasons.get(row.id)!;
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
