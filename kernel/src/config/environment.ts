import { failBoot } from '@svc/hooks';
import type { Settings } from './config.js';

type Parse = (value: string) => Settings;
const variable = (name: string, meaning: string, parse: Parse) => ({ name, meaning, parse });

/** Every environment variable that the server reads. A test compares the docs with this table. */
export const ENVIRONMENT = [
  variable('SVC_HOST', 'Address to listen on.', (host) => ({ host })),
  variable('SVC_PORT', 'Port to listen on; 0 lets the system choose.', toPort),
  variable('SVC_DATA_DIR', 'Data directory of the server.', (dataDir) => ({ dataDir })),
  variable(
    'SVC_DATABASE_URL',
    'postgres://user:password@host/name, or sqlite:path in the data directory.',
    toDatabase,
  ),
  variable('SVC_ALLOWED_HOSTS', 'Host names besides loopback, commas between.', toList('allowedHosts')),
  variable('SVC_ALLOWED_ORIGINS', 'Foreign origins of browsers, commas between.', toList('allowedOrigins')),
  variable('SVC_LOG_LEVEL', 'silent, fatal, error, warn, info, debug or trace.', toLogLevel),
];

/** An empty variable counts as not set. */
export function configFromEnvironment(env: Readonly<Record<string, string | undefined>>): Settings {
  const set = ENVIRONMENT.map(({ name, parse }) => (env[name] ? parse(env[name]) : {}));
  return Object.assign({}, ...set) as Settings;
}

function toPort(value: string): Settings {
  if (/^\d{1,5}$/.test(value)) return { port: Number(value) };
  return failBoot(`SVC_PORT: must be a number from 0 to 65535, not "${value}"`);
}

function toDatabase(value: string): Settings {
  if (/^postgres(ql)?:\/\//.test(value)) return { database: { client: 'postgres', url: value } };
  const filename = /^sqlite:(?:\/\/)?(.+)$/.exec(value)?.[1];
  if (filename) return { database: { client: 'sqlite', filename } };
  return failBoot('SVC_DATABASE_URL: must begin with postgres:// or sqlite:');
}

function toList(key: 'allowedHosts' | 'allowedOrigins'): Parse {
  return (value) => ({ [key]: value.split(/\s*,\s*/) });
}

/** Checked with the rest of the configuration. */
function toLogLevel(logLevel: string): Settings {
  return { logLevel } as Settings;
}
