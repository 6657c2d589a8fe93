export { BootError, decision, observation, serviceRef, systemClock } from '@svc/hooks';
export type { Clock, Collected, Collector, HookRef, ServiceRef, TapPlace, Timer } from '@svc/hooks';
export {
  LIST_BYTES,
  created,
  download,
  yieldIfSliceOver,
  yieldToEventLoop,
  idOf,
  nextTurn,
  ok,
  parseIdempotencyKey,
  requireId,
  sse,
} from '@svc/http';
export type {
  Address,
  Admit,
  Caller,
  Download,
  DownloadReply,
  Reply,
  ReplyOf,
  RouteCollector,
  RouteHandler,
  RouteRequest,
  SseMessage,
  SseReply,
  SseStream,
  UpgradeHandler,
} from '@svc/http';
export {
  HttpError,
  Issues,
  compileCheck,
  cutToBytes,
  fail,
  failValidation,
  parseJson,
  refuse,
  refuseLargeJson,
} from '@svc/validation';
export type { Check, IssueSink, Mistakes } from '@svc/validation';
export {
  defineConfig,
  describeConfig,
  resolveConfig,
  type Config,
  type ResolvedConfig,
  type ResolveOptions,
} from './config/config.js';
export { ENVIRONMENT } from './config/environment.js';
export { loadConfig } from './config/load.js';
export type { DatabaseConfig } from './db/database-config.js';
export { openDatabase, type Db } from './db/connect.js';
export { ensureDataDir, lockDataDir, lockFile, type FileLock } from './db/data-dir.js';
export { dialectOf, fromJson, toJson, readRawSqlite, withRawSqlite, type Dialect } from './db/dialect.js';
export { migrate, type Migration, type MigrationSets } from './db/migrate.js';
export type { Transact, Tx } from './db/transaction.js';
export { isDatabaseOutage } from './db/outage.js';
export { isMissingReference, isUniqueViolation } from './db/constraint.js';
export { namesById } from './db/names-by-id.js';
export { orWhereHolds, toSearchName, toSearchWords, whereNameOrId } from './db/name-search.js';
export {
  countRows,
  newestRows,
  pagesOfRows,
  toPage,
  type Listed,
  type Page,
  type RowsQuery,
} from './db/newest-rows.js';
export { rowsOfOwners } from './db/rows-of-owners.js';
export { selectFirstRows, selectRows } from './db/select-rows.js';
export { authenticate, type Change } from './hooks.js';
export { CoalescedWork } from './coalesced-work.js';
export { createKernel, withOfflineKernel, type Kernel } from './kernel.js';
export { createLogger, type LogLevel, type Logger } from './logger.js';
export type { OwnedTable, TableDeclaration } from './owned-tables.js';
export * from './plugin.js';
export type { Registered } from './registrations.js';
export { SilenceWatch } from './silence-watch.js';
export { syncDirectory } from './sync-directory.js';
export { withoutSecrets } from './url-secrets.js';
