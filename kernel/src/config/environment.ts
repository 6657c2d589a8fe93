import { BootError } from '../errors.js';
import type { LogLevel } from '../logger.js';
import type { Config } from './config.js';

interface Variable {
  readonly name: string;
  readonly meaning: string;
  readonly parse: (value: string) => Partial<Config>;
}

/** Every environment variable that the server reads. docs are checked against this table. */
export const ENVIRONMENT: readonly Variable[] = [
  { name: 'SVC_HOST', meaning: 'Address to listen on.', parse: (host) => ({ host }) },
  {
    name: 'SVC_PORT',
    meaning: 'Port to listen on; 0 lets the system choose.',
    parse: (value) => ({ port: toPort(value) }),
  },
  { name: 'SVC_DATA_DIR', meaning: 'Data directory of the server.', parse: (dataDir) => ({ dataDir }) },
  {
    name: 'SVC_DATABASE_URL',
    meaning: 'postgres://user:password@host/name, or sqlite:path (relative to the data directory).',
    parse: (value) => ({ database: toDatabase(value) }),
  },
  {
    name: 'SVC_ALLOWED_HOSTS',
    meaning: 'Host names accepted when not listening on loopback, separated by commas.',
    parse: (value) => ({ allowedHosts: toList(value) }),
  },
  {
    name: 'SVC_ALLOWED_ORIGINS',
    meaning: 'Foreign origins that browsers may call from, separated by commas.',
    parse: (value) => ({ allowedOrigins: toList(value) }),
  },
  {
    name: 'SVC_LOG_LEVEL',
    meaning: 'silent, fatal, error, warn, info, debug or trace.',
    parse: (value) => ({ logLevel: value as LogLevel }),
  },
];

/** An empty variable counts as not set. */
export function configFromEnvironment(env: Readonly<Record<string, string | undefined>>): Partial<Config> {
  const set = ENVIRONMENT.filter(({ name }) => env[name]);
  return Object.assign({}, ...set.map(({ name, parse }) => parse(env[name]!))) as Partial<Config>;
}

function toPort(value: string): number {
  if (!/^\d{1,5}$/.test(value))
    throw new BootError(`SVC_PORT: must be a number from 0 to 65535, not "${value}"`);
  return Number(value);
}

function toDatabase(value: string): NonNullable<Config['database']> {
  if (/^postgres(ql)?:\/\//.test(value)) return { client: 'postgres', url: value };
  const [, filename] = /^sqlite:(?:\/\/)?(.+)$/.exec(value) ?? [];
  if (!filename) throw new BootError('SVC_DATABASE_URL: must begin with postgres:// or sqlite:');
  return { client: 'sqlite', filename };
}

function toList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}
