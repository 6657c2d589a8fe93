export { BootError, failBoot, isAnswerable } from './boot-error.js';
export { bootStep } from './boot-step.js';
export { systemClock, type Clock, type Timer } from './clock.js';
export { Collection, type Collected, type Collector } from './collector.js';
export {
  decision,
  observation,
  type AnyRef,
  type ArgsOf,
  type Decision,
  type FiredOf,
  type FirstAnswer,
  type Gather,
  type HookRef,
  type Observation,
  type Waterfall,
} from './hook-ref.js';
export { HookTable, type TapPlace } from './hook-table.js';
export {
  checkOptions,
  checkPlugins,
  toPluginFactory,
  type Plugin,
  type PluginDefinition,
  type PluginFactory,
} from './plugin.js';
export { PluginGraph, toFactoryName } from './plugin-graph.js';
export { Registration, collectNamed } from './registration.js';
export { serviceRef, Services, type ServiceRef } from './services.js';
export { withLimit } from './with-limit.js';
