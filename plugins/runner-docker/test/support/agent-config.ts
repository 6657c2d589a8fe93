import { defineAgentConfig } from '@svc/agent';
import builtIn from '../../../../svc.agent.config.js';
import runnerDocker from '../../src/agent.js';
import { SOCKET_VARIABLE } from './docker-engine.js';

/** An agent as it comes, with the engine of the tests. */
export default defineAgentConfig({
  plugins: builtIn.plugins.map((plugin) =>
    plugin.name === 'runner-docker'
      ? runnerDocker({ socket: process.env[SOCKET_VARIABLE] as string })
      : plugin,
  ),
});
