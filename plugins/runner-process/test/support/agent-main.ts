/** A whole agent as a program of its own, to be killed: `agent-main.ts URL STATE_DIR SHIM_COMMAND_JSON`. */
import { createAgentLog, startAgent } from '@svc/agent';
import { TOKEN } from '@svc/agent/testing';
import { agentPlugins } from './agent-plugins.js';

const [url = '', stateDir = '', shimCommand = '[]'] = process.argv.slice(2);
const plugins = agentPlugins(JSON.parse(shimCommand) as string[]);
const agent = await startAgent({
  url,
  token: TOKEN,
  stateDir,
  plugins,
  name: 'node-1',
  log: createAgentLog({ level: 'warn' }),
});
process.once('SIGTERM', () => void agent.close());
