import { fail, type Clock, type Db, type Logger, type Timer } from '@svc/kernel';

/** A database that is busy for longer counts as not there. */
const PATIENCE_MS = 5_000;

/** Throws unavailable. */
export async function ensureDatabaseAnswers(
  db: Db,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<void> {
  let timer: Timer | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    await Promise.race([db.raw('select 1'), tooLate]);
  } catch (err) {
    log.error({ err }, 'the database does not answer');
    fail('unavailable', 'the database does not answer');
  } finally {
    timer?.clear();
  }
}
