import type { HttpError } from '@svc/validation';

/** Why the server or the agent cannot start, and what to change. Shown without a stack. */
export class BootError extends Error {
  override readonly name = 'BootError';

  /** `culprit`: the plugin or key to locate in svc.config.ts; if there are several, the first that is found. */
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

/** True for errors whose message is meant for the user: the kernel passes them on unchanged. */
export function isAnswerable(error: unknown): error is HttpError | BootError {
  return error instanceof Error && (error.name === 'HttpError' || error.name === 'BootError');
}
