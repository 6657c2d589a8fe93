const CODES = ['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'];

/** True when what was to be stored is there already: PostgreSQL and SQLite name it differently. */
export function isUniqueViolation(error: unknown): boolean {
  return CODES.includes((error as { code?: string } | null)?.code ?? '');
}
