export { createAnswerCheck, type AnswerCheck } from './answer-check.js';
export { eachDatabase, type TestDatabase } from './each-database.js';
export { failureOf, fakeClock, until, type FakeClock } from '@svc/hooks/testing';
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
