import { fail, type Clock, type Db, type Logger, type Timer } from '@svc/kernel';

/** A database that does not answer within this time counts as unavailable. */
const TIMEOUT_MS = 5_000;

/** Throws unavailable. */
export async function ensureDatabaseAnswers(
  db: Db,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<void> {
  let timer: Timer | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
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
