import { checkOptions, checkPlugins, failBoot } from '@svc/hooks';
import { compileCheck } from '@svc/validation';
import { Type, type Static } from 'typebox';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { DatabaseConfig } from '../db/database-config.js';
import { LOG_LEVELS } from '../logger.js';
import type { Plugin } from '../plugin.js';
import { withoutSecrets } from '../url-secrets.js';
import { configFromEnvironment } from './environment.js';
import type { ConfigSource } from './locate.js';

const only = { additionalProperties: false };
const Text = Type.String({ minLength: 1 });
const Origin = Type.String({
  pattern: '^https?://[^/]+$',
  description: 'as in https://lab.example, no path',
});

const settings = {
  /** Default 127.0.0.1. */
  host: Type.Optional(Text),
  /** Default 8600; 0 lets the system choose. */
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
  /** Default ~/.svc. */
  dataDir: Type.Optional(Text),
  /** `Host` names accepted besides loopback's. Left out: any, unless listening on loopback. */
  allowedHosts: Type.Optional(Type.Array(Text)),
  /** Origins other than the server's own that a browser may call from. Default none. */
  allowedOrigins: Type.Optional(Type.Array(Origin)),
  /** Default SQLite in `<dataDir>/svc.db`. */
  database: Type.Optional(DatabaseConfig),
  /** How long running requests, and then each plugin, may take to close. Default 5000. */
  shutdownGraceMs: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Default info. */
  logLevel: Type.Optional(Type.Enum([...LOG_LEVELS])),
};
const checkConfig = compileCheck(Type.Object({ ...settings, plugins: Type.Array(Type.Unknown()) }, only));

export type Settings = Static<ReturnType<typeof Type.Object<typeof settings>>>;

/** svc.config.ts. Everything but `plugins` has a default; environment variables win. */
export interface Config extends Settings {
  readonly plugins: readonly Plugin[];
}

/** What `createKernel` takes: complete and checked. */
export interface ResolvedConfig extends Required<Omit<Config, 'allowedHosts'>> {
  /** null: any, unless listening on loopback. */
  readonly allowedHosts: readonly string[] | null;
  readonly database: Required<DatabaseConfig>;
  /** The file it was read from, to name the line to change in errors; null when it was made in code. */
  readonly source: ConfigSource | null;
}

export interface ResolveOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The options of the command line, which take precedence over the environment. */
  readonly flags?: Settings;
  readonly source?: ConfigSource;
}

/** Types svc.config.ts; returns it as it is. */
export const defineConfig = (config: Config): Config => config;

/** Flags over environment over file, defaults for the rest. */
export function resolveConfig(config: Config, options: ResolveOptions = {}): ResolvedConfig {
  const { env = process.env, flags, source = null } = options;
  const merged = { ...config, ...configFromEnvironment(env), ...flags };
  const [issue] = checkConfig(merged);
  if (issue) failBoot(`${issue.path || 'the configuration'}: ${issue.message}`, issue.path.split(/[.[]/)[0]);
  checkPlugins(merged.plugins, 'definePlugin');
  const dataDir = resolve((merged.dataDir ?? '~/.svc').replace(/^~(?=$|\/)/, homedir()));
  const { database = { client: 'sqlite' } } = merged;
  const isSqlite = database.client === 'sqlite';
  return {
    host: '127.0.0.1',
    port: 8600,
    allowedHosts: null,
    allowedOrigins: [],
    shutdownGraceMs: 5_000,
    logLevel: 'info',
    ...merged,
    dataDir,
    database: isSqlite
      ? { ...database, filename: resolve(dataDir, database.filename ?? 'svc.db') }
      : database,
    source,
  };
}

const SECRET = /token|secret|password|api_?key/i;

/** The effective configuration for people, without its secrets. */
export async function describeConfig({
  plugins,
  source,
  ...rest
}: ResolvedConfig): Promise<Record<string, unknown>> {
  const described = await Promise.all(
    plugins.map(async (plugin) => ({ name: plugin.name, options: await checkOptions(plugin) })),
  );
  return redact('', { file: source?.file ?? null, ...rest, plugins: described }) as Record<string, unknown>;
}

function redact(key: string, value: unknown): unknown {
  if (typeof value === 'string') return SECRET.test(key) ? '***' : withoutSecrets(value);
  if (Array.isArray(value)) return value.map((item) => redact(key, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redact(name, inner)]));
}
