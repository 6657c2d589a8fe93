export { init, type InitOptions } from './init.js';
export type { CheckpointOptions, EventOptions, LogOptions, Metrics, Run } from './run.js';
