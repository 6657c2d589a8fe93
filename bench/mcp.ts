/**
 * The MCP adapter: how much longer a call of a tool takes than the call of the REST API in it, 100 calls at once, and the memory of the idle adapter.
 * Usage: npm run build, then npm run bench -- mcp [--rounds 500]
 */
import { createTestKernel } from '@svc/kernel/testing';
import { createToken } from '@svc/plugin-auth';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { AdapterSettings } from '../plugins/mcp/src/adapter/settings.js';
import config from '../svc.config.js';
import { residentMb } from '../test/support/processes.js';
import { measure, printTable, summarise } from './support/report.js';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '500' } } });
const ROUNDS = Number(values.rounds);
const WARM_UP = 100;
const AT_ONCE = 100;
const IDLE_MS = 5_000;
const PROGRAM = fileURLToPath(new URL('../plugins/mcp/dist/adapter/main.js', import.meta.url));

const kernel = await createTestKernel({ plugins: config.plugins });
const settings: AdapterSettings = {
  url: kernel.url,
  host: '127.0.0.1',
  port: 0,
  maxTokens: 4_000,
  allowedHosts: null,
  allowedOrigins: [],
  token: null,
};
const adapter = spawn(process.execPath, [PROGRAM, JSON.stringify(settings)], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
try {
  const [{ url }] = (await once(adapter, 'message')) as [{ url: string }];
  const { token } = await createToken(
    kernel.db,
    { name: 'bench', scope: 'write', expires_at: null },
    Date.now(),
  );
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const read = async (address: string, body?: object): Promise<unknown> => {
    const sent = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) };
    const response = await fetch(address, sent);
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const command = { command: ['true'], resources: { cpu_only: true } };
  const { id } = (await read(`${kernel.url}/api/v1/jobs`, command)) as { id: string };
  const params = { name: 'get_job', arguments: { job_id: id } };
  const rest = () => read(`${kernel.url}/api/v1/jobs/${id}`);
  const tool = () => read(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  await setTimeout(IDLE_MS);
  const idleMb = residentMb(adapter.pid!);
  await measure(WARM_UP, tool);
  const times = { rest: [] as number[], tool: [] as number[] };
  // In turns, so that both see the same machine.
  for (let round = 0; round < ROUNDS; round += 1) {
    times.rest.push(...(await measure(1, rest)));
    times.tool.push(...(await measure(1, tool)));
  }
  const atOnce = () => Promise.all(Array.from({ length: AT_ONCE }, tool));
  printTable([
    ['what', 'median ms', 'p99 ms'],
    ['GET /jobs/{id}', ...summarise(times.rest)],
    ['tools/call get_job', ...summarise(times.tool)],
    [`${AT_ONCE} tools/call at once, all of them`, ...summarise(await measure(20, atOnce))],
  ]);
  await setTimeout(IDLE_MS);
  console.log(
    `memory of the adapter: ${idleMb.toFixed(0)} MB idle, ${residentMb(adapter.pid!).toFixed(0)} MB after the calls`,
  );
} finally {
  adapter.kill();
  await kernel.close();
}
