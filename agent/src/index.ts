export { startAgent, type Agent } from './agent.js';
export type { AgentOptions } from './agent-options.js';
export {
  attemptEnded,
  attemptPrepare,
  attemptStarted,
  attemptStarting,
  type AttemptAddition,
  type AttemptDraft,
  type AttemptFacts,
  type AttemptNotes,
  type EndedAttempt,
  type StartedAttempt,
  type StartingAttempt,
} from './core/attempt-hooks.js';
export type { HostSlot } from './core/host-slot.js';
export { CONFIG_FILE } from './core/agent-kernel.js';
export {
  SAMPLE_INTERVAL_MS,
  type AgentCollector,
  type AttemptCollector,
  type CollectedEnd,
  type Collecting,
  type HostCollector,
  type Measured,
  type SlotSource,
} from './core/collector.js';
export {
  AGENT_LOG_LEVELS,
  createAgentLog,
  toReason,
  type AgentLog,
  type AgentLogLevel,
  type AgentLogOptions,
} from './core/log.js';
export {
  defineAgentConfig,
  defineAgentPlugin,
  type AgentConfig,
  type AgentPlugin,
  type AgentPluginContext,
  type AgentPluginFactory,
  type Channel,
} from './core/plugin.js';
export { toPathInside, writtenFolders, type Mount } from './core/mounts.js';
export type { RunPaths } from './core/run-paths.js';
export * from './core/runner.js';
export { SlowCollector, type SlowAnswer, type SlowCollectorOptions } from './core/slow-collector.js';
export { ProcessOwners, type ProcessOwner } from './host/process-owner.js';
export { keepHeapSmall } from './core/small-heap.js';
export { VERSION } from './core/version.js';
export type { SessionTiming } from './connection/session.js';
export { DownloadRefused } from './connection/download.js';
export { BootError } from '@svc/hooks';
