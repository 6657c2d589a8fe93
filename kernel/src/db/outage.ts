/** SQLSTATE classes: connection, transaction state, conflict of transactions, resources, locks, shutdown, system, defect. */
const POSTGRES = /^(08|25|40|53|55|57|58|XX)[0-9A-Z]{3}$/;
const SQLITE =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|INTERRUPT|SCHEMA)/;
const SYSTEM =
  /^E(CONN[A-Z]+|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|IO|NOSPC|DQUOT|ROFS|MFILE|NFILE|NOMEM)$/;
/** Errors of pg that have no code. */
const LOST_CONNECTION =
  /^(Connection (terminated|ended|error)|Client (was closed|has encountered a connection error)|timeout exceeded when trying to connect)/i;

/** True when the database or its host is the cause, and not the statement: a retry may succeed. */
export function isDatabaseOutage(error: unknown): boolean {
  const { name, code, message } = (error ?? {}) as { name?: string; code?: unknown; message?: string };
  if (name === 'KnexTimeoutError') return true;
  if (typeof code !== 'string') return LOST_CONNECTION.test(message ?? '');
  return [POSTGRES, SQLITE, SYSTEM].some((pattern) => pattern.test(code));
}

/** The message for a client whose request failed because of an outage; null for other errors. */
export function explainOutage(error: unknown): string | null {
  if (isDiskFull(error)) return "the server's disk is full; make room on it and try again";
  return isDatabaseOutage(error) ? 'the database does not answer now; try again' : null;
}

/** True when the disk or the user's quota is full. */
function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^(SQLITE_FULL|ENOSPC|EDQUOT|53100)$/.test(code);
}
