import { pino, type Logger } from 'pino';

export type { Logger };
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on stderr. Whatever is logged under a telling name is censored, as a second line of defence. */
export function createLogger(level: LogLevel): Logger {
  const secrets = ['token', 'password', 'secret', 'authorization', 'env', 'headers.authorization'];
  return pino(
    {
      level,
      base: null,
      redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: '***' },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
