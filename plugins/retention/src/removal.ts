import type { PluginContext, Db } from '@svc/kernel';
import { FEW_OF_JOB, FEW_OF_RUN, MANY_OF_JOB, MANY_OF_RUN } from './belongings.js';
import { lockCandidate, type Candidate } from './candidates.js';
import type { Criteria } from './criteria.js';
import type { LogFolders } from './log-folders.js';
import { deleteFew, deleteMany } from './rows.js';

type Subject = Pick<Candidate, 'id' | 'jobId' | 'runIds'>;

/**
 * Removes jobs and runs with all that is theirs. It is decided in one transaction; from then on it goes to its end, whoever dies
 * meanwhile: at the next start if need be.
 */
export class Remover {
  /** What is on its way out. */
  readonly #going = new Set<string>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'log'>,
    private readonly logs: LogFolders,
  ) {}

  isGoing(id: string): boolean {
    return this.#going.has(id);
  }

  /** False: it has become something that stays. */
  async remove(candidate: Candidate, criteria: Criteria): Promise<boolean> {
    const { id } = candidate;
    this.#going.add(id);
    const decided = await this.ctx.db.transaction(async (trx) => {
      const subject = await lockCandidate(trx, candidate, criteria);
      if (subject)
        await trx('removals').insert({ id, decided_at: this.ctx.clock.now() }).onConflict().ignore();
      return subject;
    });
    if (decided) await this.#finish(decided);
    this.#going.delete(id);
    return decided !== null;
  }

  /** What has been decided before and did not come to its end; known to `isGoing` when the promise resolves. */
  async pending(): Promise<readonly string[]> {
    const ids = await this.ctx.db<{ id: string }>('removals').orderBy('decided_at').pluck('id');
    for (const id of ids) this.#going.add(id);
    return ids;
  }

  async resume(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const jobId = id.startsWith('job_') ? id : null;
      const runIds = jobId === null ? [id] : await this.ctx.db('runs').where({ job_id: id }).pluck('id');
      await this.#finish({ id, jobId, runIds });
      this.#going.delete(id);
      this.ctx.log.info({ id }, 'a removal that was begun before is done');
    }
  }

  async #finish({ id, jobId, runIds }: Subject): Promise<void> {
    const { db } = this.ctx;
    const jobIds = jobId === null ? [] : [jobId];
    for (const belonging of MANY_OF_RUN) await deleteMany(db, belonging, runIds);
    for (const belonging of MANY_OF_JOB) await deleteMany(db, belonging, jobIds);
    for (const job of jobIds) await this.logs.remove(job);
    await db.transaction((trx) => deleteRecords(trx, id, jobIds, runIds));
  }
}

async function deleteRecords(
  trx: Db,
  id: string,
  jobIds: readonly string[],
  runIds: readonly string[],
): Promise<void> {
  for (const belonging of FEW_OF_RUN) await deleteFew(trx, belonging, runIds);
  for (const belonging of FEW_OF_JOB) await deleteFew(trx, belonging, jobIds);
  await trx('runs').whereIn('id', runIds).delete();
  await trx('jobs').whereIn('id', jobIds).delete();
  await trx('removals').where({ id }).delete();
}
