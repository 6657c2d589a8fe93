export { eachDatabase, type TestDatabase } from './each-database.js';
export { fakeClock, type FakeClock } from './fake-clock.js';
export { findPostgres, startPostgres, type PostgresCluster } from './postgres.js';
export type { SseClient, SseEvent, SseOptions } from './sse-client.js';
export { openSse } from './sse-client.js';
export {
  createTestKernel,
  type TestAnswer,
  type TestKernel,
  type TestKernelOptions,
  type TestRequest,
} from './test-kernel.js';
export { until } from './until.js';
