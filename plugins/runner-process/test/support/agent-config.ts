import { defineAgentConfig } from '@svc/agent';
import builtIn from '../../../../svc.agent.config.js';
import runnerProcess from '../../src/agent.js';
import { compiledShim } from './compiled-shim.js';

/** An agent as it comes, with a shim that starts as quickly as a built one. */
export default defineAgentConfig({
  plugins: builtIn.plugins.map((plugin) =>
    plugin.name === 'runner-process' ? runnerProcess(compiledShim()) : plugin,
  ),
});
