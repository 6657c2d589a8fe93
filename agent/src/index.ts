export { keepHeapSmall } from './core/small-heap.js';
export { startAgent, type Agent, type AgentOptions } from './agent.js';
export {
  AGENT_LOG_LEVELS,
  createAgentLog,
  type AgentLog,
  type AgentLogLevel,
  type AgentLogOptions,
} from './core/log.js';
export * from './core/runner.js';
export { StartError } from './core/start-error.js';
export { virtualGpus, type GpuSource } from './host/slots.js';
export { nvidiaSmi, parseGpuList } from './host/gpu-nvidia.js';
export type { SessionTiming } from './connection/session.js';
export { VERSION } from './core/version.js';
// For runners whose attempts are processes of this host.
export { ShimPool } from './process/shim-pool.js';
export { recoverUnderShim, startUnderShim, type ShimState } from './process/shimmed-run.js';
export { sweepMarked, type ProcessEnvironment } from './process/process-table.js';
