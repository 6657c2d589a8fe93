import type { AgentPlugin } from '@svc/agent';
import builtIn from '../../../../svc.agent.config.js';
import runnerProcess from '../../src/agent.js';
import { compiledShim } from './compiled-shim.js';

/** The plugins of an agent as it comes, with a shim that starts as quickly as a built one. */
export function agentPlugins(shimCommand = compiledShim()): AgentPlugin[] {
  return builtIn.plugins.map((plugin) =>
    plugin.name === 'runner-process' ? runnerProcess(shimCommand) : plugin,
  );
}
