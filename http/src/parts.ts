import type { Clock } from '@svc/hooks';
import type { Logger } from 'pino';
import type { ExplainOutage } from './errors.js';
import type { Authorize } from './authorize.js';
import type { HttpLimits } from './limits.js';
import type { OpenStreams } from './open-streams.js';
import type { FrozenRoutes } from './routes.js';
import type { TokenWatch } from './token-watch.js';

export interface HttpConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** `Host` names accepted besides loopback's. null: any, unless listening on loopback. */
  readonly allowedHosts: readonly string[] | null;
  /** Foreign origins that a browser may call from. */
  readonly allowedOrigins: readonly string[];
}

/** What the HTTP server needs. */
export interface HttpParts extends FrozenRoutes {
  readonly authorize: Authorize;
  readonly config: HttpConfig;
  readonly log: Logger;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly explainOutage: ExplainOutage;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
}

/** What the answers and sockets of the server share. */
export interface ServerParts extends HttpParts {
  readonly tokens: TokenWatch;
  readonly streams: OpenStreams;
}
