export { hideEnv } from './hide-env.js';
export * from './service.js';
