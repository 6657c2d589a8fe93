/**
 * The main job: how long from a submit to the start of its process, and what idle server, agent and shim hold in memory.
 * The start is the moment that the process itself reads from the clock, so the job's own start-up is counted too.
 * Usage: npm run bench -- main-job [--jobs 100]
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createWorkplace, submit, untilJob } from '../test/support/workplace.js';
import { residentMb } from '../test/support/processes.js';
import { childrenOf } from './support/process-tree.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({ options: { jobs: { type: 'string', default: '100' } } });
const jobs = Number(values.jobs);
const workplace = createWorkplace();
try {
  const server = await workplace.startServer();
  const agent = await workplace.startAgent(server, ['--virtual-gpus', '1']);
  const latenciesMs: number[] = [];
  for (let index = 0; index < jobs; index += 1) {
    const stamp = path.join(workplace.dir, `start-${index}`);
    const submittedMs = Date.now();
    const { id } = await submit(server.client, {
      command: ['/bin/sh', '-c', `date +%s%3N > ${stamp}`],
      resources: { gpu: 1 },
    });
    await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
    latenciesMs.push(Number(readFileSync(stamp, 'utf8')) - submittedMs);
  }
  printTable([
    ['figure', 'median', 'p99', 'unit'],
    ['submit to process start', ...summarise(latenciesMs.slice(Math.min(5, jobs - 1))), 'ms'],
    ['server resident', residentMb(server.pid).toFixed(0), '', 'MB'],
    ['agent resident', residentMb(agent.pid).toFixed(0), '', 'MB'],
    ...childrenOf(agent.pid).map((pid) => ['warm shim resident', residentMb(pid).toFixed(0), '', 'MB']),
  ]);
} finally {
  await workplace.close();
}
