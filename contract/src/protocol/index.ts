/** The part of the contract that needs no schema library: for agent, console and SDK. */
export * from './close-codes.js';
export * from './enums.js';
export * from './job-states.js';
export * from './limits.js';
export * from './metric-direction.js';
export * from './metric-value.js';
export * from './run-columns.js';
export * from './run-progress.js';
export * from './text-direction.js';
export { parseServerFrame } from './server-frame.js';
export { maskSecrets } from '../masking/mask-secrets.js';
export { maskText } from '../masking/mask-text.js';
