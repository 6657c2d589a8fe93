import type { Run } from '@svc/contract';
import { fail, type Db, type PluginContext } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import { belongingsOf } from './belongings.js';
import type { Candidate, Candidates, Subject } from './candidates.js';
import type { Criteria } from './criteria.js';
import type { LogFolders } from './log-folders.js';
import { deleteAtOnce, deleteInSlices } from './rows.js';

/**
 * Removes jobs and runs with all that is theirs. It is decided in one transaction, from which on the runs do not exist for others; then it
 * goes to its end, whatever fails meanwhile: PendingRemovals tries again.
 */
export class Remover {
  /** What is on its way out. */
  readonly #going = new Set<string>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'log' | 'registered' | 'transaction'>,
    private readonly runs: Pick<Runs, 'giveUp' | 'markDeleted'>,
    private readonly candidates: Candidates,
    private readonly logs: LogFolders,
    private readonly onFailure: () => void,
  ) {}

  isGoing(id: string): boolean {
    return this.#going.has(id);
  }

  /** False: it has become something that stays. */
  async remove(candidate: Candidate, criteria: Criteria): Promise<boolean> {
    const { id } = candidate;
    this.#going.add(id);
    const decided = await this.#decide(candidate, criteria).catch((error: unknown) => {
      this.#going.delete(id);
      throw error;
    });
    if (decided) await this.#finish(id, decided.subject);
    this.#going.delete(id);
    return decided !== null;
  }

  #decide(candidate: Candidate, criteria: Criteria): Promise<Candidate | null> {
    const { id } = candidate;
    return this.ctx.db.transaction(async (trx) => {
      const locked = await this.candidates.lock(trx, candidate, criteria);
      if (!locked) return null;
      await this.runs.markDeleted(trx, locked.subject.run);
      await this.#note(trx, id);
      return locked;
    });
  }

  /** Removes one run, also of a job, which stays. Any form of id; throws not_found and conflict. */
  async deleteRun(given: string): Promise<Run> {
    const run = await this.ctx.transaction(async (tx) => {
      const found = await this.runs.giveUp(tx, given);
      if (await this.candidates.isInUse(tx, onlyRun(found)))
        fail('conflict', `a checkpoint of run ${found.id} is being evaluated: wait for the end of that job`);
      await this.#note(tx, found.id);
      return found;
    });
    await this.#finish(run.id, onlyRun(run));
    return run;
  }

  async #note(trx: Db, id: string): Promise<void> {
    await trx('removals').insert({ id, decided_at: this.ctx.clock.now() }).onConflict().ignore();
  }

  /** What has been decided before and did not come to its end; known to `isGoing` when the promise resolves. */
  async pending(): Promise<readonly string[]> {
    const ids = await this.ctx.db<{ id: string }>('removals').orderBy('decided_at').pluck('id');
    for (const id of ids) this.#going.add(id);
    return ids;
  }

  async resume(id: string): Promise<void> {
    await this.#finish(id, await this.candidates.subjectOf(id));
    this.#going.delete(id);
    this.ctx.log.info({ id }, 'a removal that was begun before is done');
  }

  async #finish(id: string, subject: Subject): Promise<void> {
    try {
      await this.#clear(id, subject);
    } catch (error) {
      this.onFailure();
      throw error;
    }
  }

  async #clear(id: string, subject: Subject): Promise<void> {
    const { db, registered } = this.ctx;
    const all = belongingsOf(registered.tables, subject);
    for (const rows of all.filter(({ batched }) => batched)) await deleteInSlices(db, rows);
    for (const jobId of subject.job) await this.logs.remove(jobId);
    await db.transaction(async (trx) => {
      // Also the batched ones, of which some may have come since, and in the order of `all`: a row is found through those that it belongs to.
      for (const rows of all) await deleteAtOnce(trx, rows);
      await trx('removals').where({ id }).delete();
    });
  }
}

const onlyRun = ({ id }: Run): Subject => ({ run: [id], job: [] });
