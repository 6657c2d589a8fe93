export { FakeServer, TOKEN } from './fake-server.js';
export { LogBook } from './log-book.js';
export { until } from './until.js';
