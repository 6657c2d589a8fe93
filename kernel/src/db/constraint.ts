const codeOf = (error: unknown): string => (error as { code?: string } | null)?.code ?? '';

/** True when a row with the same unique key exists; PostgreSQL and SQLite have different codes for it. */
export function isUniqueViolation(error: unknown): boolean {
  return ['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'].includes(codeOf(error));
}

/** True when the row that a foreign key refers to does not exist. */
export function isMissingReference(error: unknown): boolean {
  return ['23503', 'SQLITE_CONSTRAINT_FOREIGNKEY'].includes(codeOf(error));
}
