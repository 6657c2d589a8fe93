import { Type, type Static } from 'typebox';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { BootError } from '../errors.js';
import { withoutPassword } from '../db/connect.js';
import { LOG_LEVELS } from '../logger.js';
import type { Plugin } from '../plugin.js';
import { toFactoryName } from '../services.js';
import { compileCheck } from '../validation.js';
import { configFromEnvironment } from './environment.js';

const strict = { additionalProperties: false };
const Text = Type.String({ minLength: 1 });
const Origin = Type.String({
  pattern: '^https?://[^/]+$',
  description: 'as in https://example.org, without a path',
});
const PostgresUrl = Type.String({
  pattern: '^postgres(ql)?://',
  description: 'as in postgres://user@host/name',
});

export const DatabaseConfig = Type.Union([
  Type.Object(
    { client: Type.Literal('sqlite'), filename: Type.Optional(Text) },
    { ...strict, title: "{ client: 'sqlite', filename? }" },
  ),
  Type.Object(
    { client: Type.Literal('postgres'), url: PostgresUrl },
    { ...strict, title: "{ client: 'postgres', url }" },
  ),
]);
export type DatabaseConfig = Static<typeof DatabaseConfig>;

const Settings = Type.Object({
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
});
export type Settings = Static<typeof Settings>;

const checkConfig = compileCheck(
  Type.Object({ ...Settings.properties, plugins: Type.Array(Type.Unknown()) }, strict),
);

/** svc.config.ts. Everything but `plugins` has a default; environment variables win. */
export interface Config extends Settings {
  readonly plugins: readonly Plugin[];
}

/** What `createKernel` takes: complete and checked. */
export interface ResolvedConfig extends Required<Omit<Config, 'allowedHosts'>> {
  /** null: any, unless listening on loopback. */
  readonly allowedHosts: readonly string[] | null;
  readonly database: Required<DatabaseConfig>;
  /** Where it was read, to point at the line to change; null when it was made in code. */
  readonly source: ConfigSource | null;
}

export interface ConfigSource {
  readonly file: string;
  readonly text: string;
}

export interface ResolveOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Win over the environment: what the command line said. */
  readonly flags?: Settings;
  readonly source?: ConfigSource;
}

/** Types svc.config.ts; returns it as it is. */
export function defineConfig(config: Config): Config {
  return config;
}

/** Flags over environment over file, defaults for the rest. */
export function resolveConfig(
  config: Config,
  { env = process.env, flags, source }: ResolveOptions = {},
): ResolvedConfig {
  const merged = { ...config, ...configFromEnvironment(env), ...flags };
  const [issue] = checkConfig(merged);
  if (issue)
    throw new BootError(
      `${issue.path || 'the configuration'}: ${issue.message}`,
      issue.path.split(/[.[]/)[0],
    );
  merged.plugins.forEach(checkPlugin);
  const dataDir = resolve((merged.dataDir ?? '~/.svc').replace(/^~(?=$|\/)/, homedir()));
  const database = merged.database ?? { client: 'sqlite' };
  return {
    host: '127.0.0.1',
    port: 8600,
    allowedHosts: null,
    allowedOrigins: [],
    shutdownGraceMs: 5_000,
    logLevel: 'info',
    ...merged,
    dataDir,
    database:
      database.client === 'sqlite'
        ? { ...database, filename: resolve(dataDir, database.filename ?? 'svc.db') }
        : database,
    source: source ?? null,
  };
}

function checkPlugin(plugin: unknown, index: number): void {
  const { name, setup } = (plugin ?? {}) as Partial<Plugin>;
  if (typeof plugin === 'function')
    throw new BootError(`plugins[${index}] is a factory: call it, as in jobs()`, [plugin.name, 'plugins']);
  if (name && setup) return;
  throw new BootError(`plugins[${index}] is no plugin: make it with definePlugin`, 'plugins');
}

/** For people: the configuration as it is in force, without its secrets. */
export function describeConfig({ plugins, source, ...settings }: ResolvedConfig): Record<string, unknown> {
  const described = plugins.map(({ name, options }) => ({ name, options }));
  return redact({ file: source?.file ?? null, ...settings, plugins: described }) as Record<string, unknown>;
}

function redact(value: unknown, key = ''): unknown {
  if (typeof value === 'string')
    return /token|secret|password|api_?key/i.test(key) ? '***' : withoutPassword(value);
  if (Array.isArray(value)) return value.map((item) => redact(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redact(inner, name)]));
}

/** The same error, pointing at the line of svc.config.ts to change. */
export function locateBootError(error: unknown, source: ConfigSource | null): unknown {
  if (!(error instanceof BootError) || !source || error.culprit === undefined) return error;
  const culprits = [error.culprit].flat();
  const line = culprits.map((culprit) => findLine(source.text, toFactoryName(culprit))).find(Boolean);
  return new BootError(`${source.file}${line ? `:${line}` : ''}: ${error.message}`, undefined, {
    cause: error,
  });
}

/** The last line that has the word, comments and imports aside; counted from 1, and 0 when there is none. */
function findLine(text: string, word: string): number {
  const use = new RegExp(`^(?!\\s*(import|//|\\*)).*(?<![\\w$])${word.replace(/\W/g, '\\$&')}(?![\\w$])`);
  return text.split('\n').findLastIndex((line) => use.test(line)) + 1;
}
