import type { LogLevel } from '../logger.js';
import type { Plugin } from '../plugin.js';

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
  /** How long each plugin may take to close. Default 5000. */
  readonly shutdownGraceMs?: number;
  readonly logLevel?: LogLevel;
  readonly plugins: readonly Plugin[];
}

export type DatabaseConfig =
  | { readonly client: 'sqlite'; readonly filename?: string }
  | { readonly client: 'postgres'; readonly url: string };

/** Types svc.config.ts; returns it as it is. */
export function defineConfig(config: Config): Config {
  return config;
}
