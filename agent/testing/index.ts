export { compiledShim } from './compiled-shim.js';
export { FakeServer, TOKEN } from './fake-server.js';
export { FORGETFUL } from './forgetful.js';
export { LogBook } from './log-book.js';
export { ScriptedRunner, type Script } from './scripted-runner.js';
export { until } from './until.js';
export { MemoryCgroup } from './memory-cgroup.js';
