import type { HttpError } from '@svc/validation';

/** Why the server or the agent cannot start, in a sentence that says the fix. Shown without a stack. */
export class BootError extends Error {
  override readonly name = 'BootError';

  /** `culprit`: the plugin or key to look for in svc.config.ts; of several the first that is found. */
  constructor(
    message: string,
    readonly culprit?: string | readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function failBoot(message: string, culprit?: string | readonly string[], cause?: unknown): never {
  throw new BootError(message, culprit, { cause });
}

/** True for errors that speak to their reader already: they pass through the kernel as they are. */
export function isAnswerable(error: unknown): error is HttpError | BootError {
  return error instanceof Error && (error.name === 'HttpError' || error.name === 'BootError');
}
