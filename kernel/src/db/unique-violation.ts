const CODES = ['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'];

/** True when a row with the same unique key exists; PostgreSQL and SQLite have different codes for it. */
export function isUniqueViolation(error: unknown): boolean {
  return CODES.includes((error as { code?: string } | null)?.code ?? '');
}
