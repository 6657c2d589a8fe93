export { checkpoint, event, finish, log } from './current.js';
export { init, type InitOptions } from './init.js';
export type {
  CheckpointOptions,
  EventOptions,
  LogOptions,
  MetricMeaning,
  Metrics,
  Run,
} from './run-interface.js';
