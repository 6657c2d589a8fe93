import { fail, nextTurn } from '@svc/kernel';
import type { WriteOutcome } from './point-store.js';
import type { PointsWrite, PointsWritten } from './point-writer.js';

export interface WriteQueueLimits {
  /** A group is complete when it has this many points, which limits how long other requests wait for the database. */
  readonly groupPoints: number;
  /** When more points than this wait, further batches are refused with `unavailable`. */
  readonly waitingPoints: number;
}

interface Waiting {
  readonly batch: PointsWrite;
  resolve(written: PointsWritten): void;
  reject(error: unknown): void;
}

type WriteGroup = (group: readonly PointsWrite[]) => Promise<readonly WriteOutcome[]>;

/**
 * One writer with group commit: batches that come in while a transaction runs are committed by the next one together. `add`
 * resolves after that commit.
 */
export class WriteQueue {
  #waiting: Waiting[] = [];
  #waitingPoints = 0;
  #running: Promise<void> | null = null;

  constructor(
    private readonly write: WriteGroup,
    private readonly limits: WriteQueueLimits = { groupPoints: 10_000, waitingPoints: 1_000_000 },
  ) {}

  add(batch: PointsWrite): Promise<PointsWritten> {
    if (this.#waitingPoints > this.limits.waitingPoints)
      fail('unavailable', 'too many points wait to be stored; send them again later');
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#waitingPoints += batch.points.length;
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when the queue is empty. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Lets other requests use the database, and more batches join the group.
      await nextTurn();
      await this.#commit(this.#takeGroup());
    }
    this.#running = null;
  }

  /** Ordered by run, so that two servers on one database lock runs in the same order. */
  #takeGroup(): Waiting[] {
    let points = 0;
    const end = this.#waiting.findIndex(
      ({ batch }) => (points += batch.points.length) >= this.limits.groupPoints,
    );
    const group = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end + 1);
    for (const { batch } of group) this.#waitingPoints -= batch.points.length;
    return group.sort((a, b) =>
      a.batch.run_id < b.batch.run_id ? -1 : Number(a.batch.run_id > b.batch.run_id),
    );
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.write(group.map(({ batch }) => batch));
      group.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index] as WriteOutcome;
        if ('written' in outcome) resolve(outcome.written);
        else reject(outcome.error);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
