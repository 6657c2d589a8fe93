/** The agent cannot start as it was asked to; the message says the fix, and is shown without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
