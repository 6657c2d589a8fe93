/** A whole agent as a program of its own, to be killed: `agent-program CONFIG_URL SERVER_URL STATE_DIR`. */
import { createAgentLog, startAgent, type AgentConfig } from '../src/index.js';
import { TOKEN } from './fake-server.js';

const [config = '', url = '', stateDir = ''] = process.argv.slice(2);
const { plugins } = ((await import(config)) as { default: AgentConfig }).default;
const log = createAgentLog({ level: 'warn' });
const agent = await startAgent({ url, token: TOKEN, stateDir, plugins, virtualGpus: 2, name: 'node-1', log });
process.once('SIGTERM', () => void agent.close());
