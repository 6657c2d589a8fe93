import { SilenceWatch, type PluginContext } from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';
import { atSign, inSilence, staleAfterMs, type Life } from './life.js';
import { foundEvent, lostEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { fromRow, type RunRow } from './run-row.js';
import { changeLife, listSilent, lockRow, noteSigns } from './run-store.js';

const LONGEST_CHECK_MS = 15_000;
/** The least number of checks within the time after which a run is LOST. */
const CHECKS_PER_SILENCE = 10;

/**
 * Finds the runs without a job that have reported nothing for too long, and those that report again. The time counts from the last sign of
 * life, but not from before this server began to listen: a run that could not report is not LOST. Signs are kept in memory and stored
 * with each check, so that a sign costs no query.
 */
export class Liveness {
  /** The time of the last sign of each run that has given one to this server and is not LOST. */
  readonly #seen = new Map<string, number>();
  /** The runs whose last sign is not stored yet. */
  readonly #unsaved = new Set<string>();
  readonly #watch: SilenceWatch;

  constructor(
    private readonly ctx: PluginContext,
    private readonly parts: RunParts,
    private readonly lostAfterMs: number,
  ) {
    const everyMs = Math.min(LONGEST_CHECK_MS, lostAfterMs / CHECKS_PER_SILENCE);
    this.#watch = new SilenceWatch(ctx, { subject: 'runs', everyMs, check: () => this.#lookForSilence() });
  }

  start(): void {
    this.#watch.start();
    this.ctx.onClose(async () => {
      await this.#watch.close();
      await this.#saveSigns();
    });
  }

  /** Notes a sign of life. When it resolves, a run that was LOST is RUNNING. */
  async note({ id, job_id }: IngestTarget): Promise<void> {
    if (job_id !== null) return;
    if (!this.#seen.has(id)) await this.#change(id, (row) => atSign(row, this.ctx.clock.now()));
    this.#seen.set(id, this.ctx.clock.now());
    this.#unsaved.add(id);
  }

  async #lookForSilence(): Promise<void> {
    await this.#saveSigns();
    const now = this.ctx.clock.now();
    const staleAt = now - staleAfterMs(this.lostAfterMs);
    if (this.#watch.listeningSince > staleAt) return;
    for (const [id, seenAt] of this.#seen) if (seenAt <= staleAt) this.#seen.delete(id);
    for (const id of await listSilent(this.ctx.db, staleAt, now - this.lostAfterMs)) await this.#judge(id);
  }

  /** A run that gives a sign while it is looked at is not silent, although the sign is not stored yet. */
  async #judge(id: string): Promise<void> {
    await this.#change(id, (row) =>
      this.#seen.has(id) ? null : inSilence(row, this.#silenceOf(row), this.lostAfterMs),
    );
  }

  #silenceOf({ seen_at }: Life): number {
    return this.ctx.clock.now() - Math.max(this.#watch.listeningSince, seen_at ?? 0);
  }

  /** Stores the time of the check in place of each sign's own: a run becomes LOST up to one interval later, and never too early. */
  async #saveSigns(): Promise<void> {
    const ids = [...this.#unsaved];
    await noteSigns(this.ctx.db, ids, this.ctx.clock.now());
    for (const id of ids) this.#unsaved.delete(id);
  }

  /** The row is locked, so that a sign and a check cannot change the run at the same time. */
  async #change(id: string, judge: (row: RunRow) => Partial<Life> | null): Promise<void> {
    await this.ctx.transaction(async (tx) => {
      const row = await lockRow(tx, id);
      const change = row && row.job_id === null ? judge(row) : null;
      if (!row || !change) return;
      const after = await changeLife(tx, id, change);
      if (after.status !== row.status) {
        const tell = after.status === 'LOST' ? lostEvent : foundEvent;
        await this.parts.events.append(tx, tell(after, this.lostAfterMs), this.ctx.clock.now());
      }
      if (after.status !== row.status || after.stale_since !== row.stale_since)
        this.parts.changed(tx, { before: fromRow(row), after });
    });
  }
}
