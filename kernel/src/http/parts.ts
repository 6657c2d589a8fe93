import type { Clock } from '../clock.js';
import type { ResolvedConfig } from '../config/config.js';
import type { Logger } from '../logger.js';
import type { Gate } from './gate.js';
import type { FrozenRoutes } from './routes.js';

/** What the HTTP side is made of. */
export interface HttpParts extends FrozenRoutes {
  readonly gate: Gate;
  readonly config: Pick<ResolvedConfig, 'host' | 'port' | 'allowedHosts' | 'allowedOrigins'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
}
