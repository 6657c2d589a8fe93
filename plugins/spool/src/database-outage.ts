import { HttpError } from '@svc/kernel';

/** SQLSTATE classes: connection, read-only, conflict of transactions, resources, locks, shutdown, system, defect. */
const POSTGRES = /^(08|25|40|53|55|57|58|XX)/;
const SQLITE =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|INTERRUPT|SCHEMA)/;
/** As the system names them: ECONNREFUSED, ENOSPC. */
const SYSTEM = /^E[A-Z]{2,}$/;

/** True when the database is at fault and not what was to be stored: it may be taken once that is well again. */
export function isDatabaseOutage(error: unknown): boolean {
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string };
  if (error instanceof HttpError || name === 'KnexTimeoutError') return true;
  if (typeof code !== 'string') return /\bconnection\b/i.test(message ?? '');
  return [POSTGRES, SQLITE, SYSTEM].some((pattern) => pattern.test(code));
}
