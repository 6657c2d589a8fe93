import { failBoot } from '../errors.js';
import type { DatabaseConfig, Settings } from './config.js';

interface Variable {
  readonly name: string;
  readonly meaning: string;
  readonly parse: (value: string) => Settings;
}

/** Every environment variable that the server reads. docs are checked against this table. */
export const ENVIRONMENT: readonly Variable[] = [
  {
    name: 'SVC_HOST',
    meaning: 'Address to listen on.',
    parse: (host) => ({ host }),
  },
  {
    name: 'SVC_PORT',
    meaning: 'Port to listen on; 0 lets the system choose.',
    parse: (port) => ({ port: toPort(port) }),
  },
  {
    name: 'SVC_DATA_DIR',
    meaning: 'Data directory of the server.',
    parse: (dataDir) => ({ dataDir }),
  },
  {
    name: 'SVC_DATABASE_URL',
    meaning: 'postgres://user:password@host/name, or sqlite:path (relative to the data directory).',
    parse: (url) => ({ database: toDatabase(url) }),
  },
  {
    name: 'SVC_ALLOWED_HOSTS',
    meaning: 'Host names accepted besides loopback, separated by commas.',
    parse: (hosts) => ({ allowedHosts: toList(hosts) }),
  },
  {
    name: 'SVC_ALLOWED_ORIGINS',
    meaning: 'Foreign origins that browsers may call from, separated by commas.',
    parse: (origins) => ({ allowedOrigins: toList(origins) }),
  },
  {
    name: 'SVC_LOG_LEVEL',
    meaning: 'silent, fatal, error, warn, info, debug or trace.',
    parse: (level) => ({ logLevel: level }) as Settings,
  },
];

/** An empty variable counts as not set. */
export function configFromEnvironment(env: Readonly<Record<string, string | undefined>>): Settings {
  const set = ENVIRONMENT.map(({ name, parse }) => (env[name] ? parse(env[name]) : {}));
  return Object.assign({}, ...set) as Settings;
}

function toPort(value: string): number {
  if (/^\d{1,5}$/.test(value)) return Number(value);
  return failBoot(`SVC_PORT: must be a number from 0 to 65535, not "${value}"`);
}

function toDatabase(value: string): DatabaseConfig {
  if (/^postgres(ql)?:\/\//.test(value)) return { client: 'postgres', url: value };
  const filename = /^sqlite:(?:\/\/)?(.+)$/.exec(value)?.[1];
  return filename
    ? { client: 'sqlite', filename }
    : failBoot('SVC_DATABASE_URL: must begin with postgres:// or sqlite:');
}

function toList(value: string): string[] {
  return value.split(',').map((item) => item.trim());
}
