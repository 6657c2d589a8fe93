import { BootError } from '../errors.js';
import type { DatabaseConfig, Settings } from './config.js';

interface Variable {
  readonly name: string;
  readonly meaning: string;
  readonly parse: (value: string) => Settings;
}

const variable = (name: string, meaning: string, parse: Variable['parse']): Variable => ({
  name,
  meaning,
  parse,
});

/** Every environment variable that the server reads. docs are checked against this table. */
export const ENVIRONMENT: readonly Variable[] = [
  variable('SVC_HOST', 'Address to listen on.', (host) => ({ host })),
  variable('SVC_PORT', 'Port to listen on; 0 lets the system choose.', (port) => ({ port: toPort(port) })),
  variable('SVC_DATA_DIR', 'Data directory of the server.', (dataDir) => ({ dataDir })),
  variable(
    'SVC_DATABASE_URL',
    'postgres://user:password@host/name, or sqlite:path (relative to the data directory).',
    (url) => ({
      database: toDatabase(url),
    }),
  ),
  variable('SVC_ALLOWED_HOSTS', 'Host names accepted besides loopback, separated by commas.', (hosts) => ({
    allowedHosts: toList(hosts),
  })),
  variable(
    'SVC_ALLOWED_ORIGINS',
    'Foreign origins that browsers may call from, separated by commas.',
    (origins) => ({
      allowedOrigins: toList(origins),
    }),
  ),
  variable('SVC_LOG_LEVEL', 'silent, fatal, error, warn, info, debug or trace.', (level) => ({
    logLevel: level as NonNullable<Settings['logLevel']>,
  })),
];

/** An empty variable counts as not set. */
export function configFromEnvironment(env: Readonly<Record<string, string | undefined>>): Settings {
  return Object.assign(
    {},
    ...ENVIRONMENT.map(({ name, parse }) => (env[name] ? parse(env[name]) : {})),
  ) as Settings;
}

function toPort(value: string): number {
  if (/^\d{1,5}$/.test(value)) return Number(value);
  throw new BootError(`SVC_PORT: must be a number from 0 to 65535, not "${value}"`);
}

function toDatabase(value: string): DatabaseConfig {
  if (/^postgres(ql)?:\/\//.test(value)) return { client: 'postgres', url: value };
  const filename = /^sqlite:(?:\/\/)?(.+)$/.exec(value)?.[1];
  if (filename) return { client: 'sqlite', filename };
  throw new BootError('SVC_DATABASE_URL: must begin with postgres:// or sqlite:');
}

function toList(value: string): string[] {
  return value.split(',').map((item) => item.trim());
}
