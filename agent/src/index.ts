export { keepHeapSmall } from './small-heap.js';
export { startAgent, type Agent, type AgentOptions } from './agent.js';
export {
  AGENT_LOG_LEVELS,
  createAgentLog,
  type AgentLog,
  type AgentLogLevel,
  type AgentLogOptions,
} from './log.js';
export * from './runner.js';
export type { JobUser } from './job-user.js';
export { StartError } from './start-error.js';
export { virtualGpus, type GpuSource } from './slots.js';
export { nvidiaSmi, parseGpuList } from './gpu-nvidia.js';
export type { SessionTiming } from './session.js';
export { VERSION } from './version.js';
// For runners whose attempts are processes of this host.
export { ShimPool } from './shim-pool.js';
export { recoverUnderShim, startUnderShim, type ShimState } from './shimmed-run.js';
export { sweepMarked, type ProcessEnvironment } from './process-table.js';
