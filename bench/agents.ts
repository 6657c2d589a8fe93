/**
 * Many hosts: what a server costs that 500 agents of 8 GPUs each are connected to, with heartbeats and node metrics at the
 * rates of the specification. The agents are simulated in this process; the server is the built one.
 * Usage: npm run bench -- agents [--agents 500] [--gpus 8] [--seconds 420]
 */
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { routes } from '@svc/contract';
import { createWorkplace } from '../test/support/workplace.js';
import { startFleet } from './agents/fleet.js';
import { MemoryWatch } from './support/memory.js';
import { cpuSecondsOf } from './support/process-tree.js';
import { measure, printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '500' },
    gpus: { type: 'string', default: '8' },
    // Longer than a chunk of node metrics, so that their way to the disk is counted.
    seconds: { type: 'string', default: '420' },
  },
});
const agents = Number(values.agents);
const seconds = Number(values.seconds);

const workplace = createWorkplace();
try {
  const server = await workplace.startServer();
  const { token } = await server.client.call(routes.createToken, { body: { name: 'bench', scope: 'write' } });
  const memory = new MemoryWatch(server.pid);
  const fleet = await startFleet({ url: server.url, token, agents, gpus: Number(values.gpus) });
  const readNodes = async () =>
    (await server.client.open(routes.listNodes, { query: { limit: 1000 } })).text();
  const before = cpuSecondsOf(server.pid);
  const sentBefore = fleet.sent.values;
  await delay(seconds * 1000);
  const cores = (cpuSecondsOf(server.pid) - before) / seconds;
  const rate = (fleet.sent.values - sentBefore) / seconds;
  const [nodes] = summarise(await measure(20, readNodes));
  printTable([
    ['figure', 'measured', 'unit'],
    ['agents connected at the end', String(fleet.connected), `of ${agents}`],
    ['values of node metrics taken', rate.toFixed(0), 'a second'],
    ['server, processor', cores.toFixed(2), 'cores'],
    ['server, resident at most', (memory.idleMb + memory.grownMb).toFixed(0), 'MB'],
    ['GET /nodes, all of them, median', nodes, 'ms'],
  ]);
  fleet.close();
} finally {
  await workplace.close();
}
