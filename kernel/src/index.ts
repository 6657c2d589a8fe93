export type { Caller, IngestBinding } from './caller.js';
export { systemClock, type Clock, type Timer } from './clock.js';
export type { Collected, Collector } from './collector.js';
export {
  defineConfig,
  describeConfig,
  resolveConfig,
  type Config,
  type DatabaseConfig,
  type ResolvedConfig,
  type ResolveOptions,
} from './config/config.js';
export { ENVIRONMENT } from './config/environment.js';
export { loadConfig } from './config/load.js';
export { openDatabase, type Db } from './db/connect.js';
export { ensureDataDir, lockDataDir, type DataDirLock } from './db/data-dir.js';
export { dialectOf, fromJson, toJson, withRawSqlite, type Dialect } from './db/dialect.js';
export { migrate, type Migration, type MigrationSets } from './db/migrate.js';
export { isDatabaseOutage } from './db/outage.js';
export { LIST_BYTES, newestRows, toPage, type Listed, type Page } from './db/newest-rows.js';
export {
  BootError,
  HttpError,
  Issues,
  fail,
  failValidation,
  idOf,
  refuse,
  requireId,
  type IssueSink,
  type Mistakes,
} from './errors.js';
export type * from './hooks.js';
export * from './http/route.js';
export { InTurn } from './in-turn.js';
export { parseJson } from './json.js';
export { compileCheck, refuseLargeJson, type Check } from './validation.js';
export { createKernel, type Kernel } from './kernel.js';
export { createLogger, type LogLevel, type Logger } from './logger.js';
export * from './plugin.js';
export type * from './registrations.js';
export { serviceRef, type ServiceRef } from './services.js';
export { giveWay, giveWayBriefly, nextTurn } from './turns.js';
