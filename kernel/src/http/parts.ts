import type { Clock } from '../clock.js';
import type { ResolvedConfig } from '../config/config.js';
import type { Logger } from '../logger.js';
import type { Gate } from './gate.js';
import type { HttpLimits } from './limits.js';
import type { OpenStreams } from './open-streams.js';
import type { FrozenRoutes } from './routes.js';
import type { TokenWatch } from './token-watch.js';

/** What the HTTP side is made of. */
export interface HttpParts extends FrozenRoutes {
  readonly gate: Gate;
  readonly config: Pick<ResolvedConfig, 'host' | 'port' | 'allowedHosts' | 'allowedOrigins'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
}

/** What its answers and sockets share. */
export interface ServerParts extends HttpParts {
  readonly tokens: TokenWatch;
  readonly streams: OpenStreams;
}
