import { Type } from 'typebox';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { BootError } from '../errors.js';
import { withoutPassword } from '../db/connect.js';
import { LOG_LEVELS, type LogLevel } from '../logger.js';
import type { Plugin } from '../plugin.js';
import { toFactoryName } from '../services.js';
import { compileCheck } from '../validation.js';
import { configFromEnvironment } from './environment.js';

/** svc.config.ts. Everything but `plugins` has a default; environment variables win. */
export interface Config {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 8600; 0 lets the system choose. */
  readonly port?: number;
  /** Default ~/.svc. */
  readonly dataDir?: string;
  /** `Host` names accepted when not listening on loopback; left out: any. */
  readonly allowedHosts?: readonly string[];
  /** Origins other than the server's own that a browser may call from. Default none. */
  readonly allowedOrigins?: readonly string[];
  /** Default SQLite in `<dataDir>/svc.db`. */
  readonly database?: DatabaseConfig;
  /** How long requests, and then each plugin, may take to close. Default 5000. */
  readonly shutdownGraceMs?: number;
  /** Default info. */
  readonly logLevel?: LogLevel;
  readonly plugins: readonly Plugin[];
}

export type DatabaseConfig =
  | { readonly client: 'sqlite'; readonly filename?: string }
  | { readonly client: 'postgres'; readonly url: string };

/** What `createKernel` takes: complete and checked. */
export interface ResolvedConfig extends Required<Omit<Config, 'allowedHosts'>> {
  /** null: any. */
  readonly allowedHosts: readonly string[] | null;
  readonly database: Required<DatabaseConfig>;
  /** Where it was read, to point at the line to change; null when it was made in code. */
  readonly source: ConfigSource | null;
}

export interface ConfigSource {
  readonly file: string;
  readonly text: string;
}

/** Types svc.config.ts; returns it as it is. */
export function defineConfig(config: Config): Config {
  return config;
}

export interface ResolveOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Win over the environment: what the command line said. */
  readonly flags?: Partial<Omit<Config, 'plugins'>>;
  readonly source?: ConfigSource;
}

const HostName = Type.String({ minLength: 1 });
const ConfigSchema = Type.Object(
  {
    host: Type.Optional(HostName),
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
    dataDir: Type.Optional(Type.String({ minLength: 1 })),
    allowedHosts: Type.Optional(Type.Array(HostName)),
    allowedOrigins: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^https?://[^/]+$',
          description: 'as in https://example.org, without a path',
        }),
      ),
    ),
    database: Type.Optional(
      Type.Object(
        {
          client: Type.Enum(['sqlite', 'postgres']),
          filename: Type.Optional(Type.String({ minLength: 1 })),
          url: Type.Optional(
            Type.String({ pattern: '^postgres(ql)?://', description: 'as in postgres://user@host/name' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    shutdownGraceMs: Type.Optional(Type.Integer({ minimum: 0 })),
    logLevel: Type.Optional(Type.Enum([...LOG_LEVELS])),
    plugins: Type.Array(Type.Unknown()),
  },
  { additionalProperties: false },
);
const checkConfig = compileCheck(ConfigSchema);

/** Environment over file, flags over both, defaults for the rest. */
export function resolveConfig(
  config: Config,
  { env = process.env, flags = {}, source }: ResolveOptions = {},
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
  return {
    host: merged.host ?? '127.0.0.1',
    port: merged.port ?? 8600,
    dataDir,
    allowedHosts: merged.allowedHosts ?? null,
    allowedOrigins: merged.allowedOrigins ?? [],
    database: resolveDatabase(merged.database ?? { client: 'sqlite' }, dataDir),
    shutdownGraceMs: merged.shutdownGraceMs ?? 5_000,
    logLevel: merged.logLevel ?? 'info',
    plugins: merged.plugins,
    source: source ?? null,
  };
}

function resolveDatabase(database: DatabaseConfig, dataDir: string): Required<DatabaseConfig> {
  if (database.client === 'sqlite') {
    const { filename = 'svc.db' } = database;
    return { client: 'sqlite', filename: filename === ':memory:' ? filename : resolve(dataDir, filename) };
  }
  if (!database.url) throw new BootError("database: client 'postgres' needs a url", 'database');
  return database;
}

function checkPlugin(plugin: unknown, index: number): void {
  if (typeof plugin === 'function') {
    throw new BootError(`plugins[${index}] is a factory: call it, as in jobs()`, plugin.name || 'plugins');
  }
  const { name, setup } = (plugin ?? {}) as Partial<Plugin>;
  if (typeof name !== 'string' || typeof setup !== 'function') {
    throw new BootError(`plugins[${index}] is no plugin: make it with definePlugin`, 'plugins');
  }
}

/** For people: the configuration as it is in force, without its secrets. */
export function describeConfig(config: ResolvedConfig): Record<string, unknown> {
  const { plugins, source, ...rest } = config;
  const described = {
    file: source?.file ?? null,
    ...rest,
    plugins: plugins.map(({ name, options }) => ({ name, options })),
  };
  return redact(described) as Record<string, unknown>;
}

const SECRET = /token|secret|password|credential|api_?key/i;

function redact(value: unknown, key = ''): unknown {
  if (SECRET.test(key) && value !== null && value !== undefined) return '***';
  if (typeof value === 'string') return withoutPassword(value);
  if (Array.isArray(value)) return value.map((item) => redact(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redact(inner, name)]));
}

/** The same error, pointing at the line of svc.config.ts to change. */
export function locateBootError(error: unknown, source: ConfigSource | null | undefined): unknown {
  if (!(error instanceof BootError) || !source || error.culprit === undefined) return error;
  const lines = [error.culprit].flat().map((culprit) => findLine(source.text, culprit));
  const line = lines.find((found) => found !== null) ?? null;
  const where = line === null ? source.file : `${source.file}:${line}`;
  return error.message.startsWith(source.file)
    ? error
    : new BootError(`${where}: ${error.message}`, undefined, { cause: error });
}

/** The last line that says `name: ` or calls the factory of that plugin; 1-based. */
function findLine(text: string, culprit: string): number | null {
  const word = toFactoryName(culprit).replace(/[^\w$]/g, '\\$&');
  const use = new RegExp(`(^|[^\\w$])['"]?${word}['"]?\\s*(:|\\()|(^|[\\s,[])${word}\\s*[,\\]]`);
  const lines = text.split('\n').map((line) => (/^\s*(import|\/\/)/.test(line) ? '' : line));
  const index = lines.findLastIndex((line) => use.test(line));
  return index === -1 ? null : index + 1;
}
