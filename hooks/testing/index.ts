export { failureOf } from './failure-of.js';
export { fakeClock, type FakeClock } from './fake-clock.js';
export { until } from './until.js';
