/** Why a command could not do its work, in a sentence that says the fix. Exit status 1. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The command line itself is wrong. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
