import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs JSON lines, to stderr by default. Fields with the name of a secret are censored as a second line of defence. */
export function createLogger(
  level: LogLevel,
  to: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger {
  const secrets = ['token', 'password', 'secret', 'authorization', 'env', 'headers.authorization'];
  return pino(
    {
      level,
      base: null,
      serializers: { err: describeError },
      redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: '***' },
    },
    to,
  );
}

/** Must hold: only `code` is logged of an error's additional fields, as others contain SQL or values of the database (`sql`, `detail`). */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { type, message, stack, ...fields } = pino.stdSerializers.err(error);
  const { errors } = error as { errors?: unknown };
  return {
    type,
    message,
    stack,
    code: fields['code'] as unknown,
    ...(Array.isArray(errors) && { errors: errors.map(describeError) }),
  };
}
