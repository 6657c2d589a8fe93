/**
 * Many jobs of `true` through one slot of one agent: all are submitted, and the time from the first start to the last end
 * counts. Besides, what server, agent and shims took of the processor and held in memory.
 * Usage: npm run bench -- throughput [--jobs 1000]
 */
import { parseArgs } from 'node:util';
import { residentMb } from '../test/support/processes.js';
import { createWorkplace } from '../test/support/workplace.js';
import { startSvcEngine } from './engines/svc.js';
import { MemoryWatch } from './support/memory.js';
import { childrenOf, cpuSecondsOf } from './support/process-tree.js';
import { printTable } from './support/report.js';

const { values } = parseArgs({ options: { jobs: { type: 'string', default: '1000' } } });
const jobs = Number(values.jobs);
const workplace = createWorkplace();
try {
  const { server, agent, timeRow } = await startSvcEngine(workplace);
  const programs = [
    { name: 'server', pid: server.pid },
    { name: 'agent', pid: agent.pid },
  ].map((program) => ({
    ...program,
    memory: new MemoryWatch(program.pid),
    cpuBeforeS: cpuSecondsOf(program.pid),
  }));
  const seconds = await timeRow(jobs);
  console.log(
    `${jobs} jobs of true, one slot: ${seconds.toFixed(1)} s, ${(jobs / seconds).toFixed(1)} a second`,
  );
  const toMb = (mb: number) => mb.toFixed(0);
  printTable([
    ['program', 'processor, ms a job', 'resident before, MB', 'most, MB', 'after, MB'],
    ...programs.map(({ name, pid, memory, cpuBeforeS }) => [
      name,
      (((cpuSecondsOf(pid) - cpuBeforeS) * 1000) / jobs).toFixed(1),
      ...[memory.idleMb, memory.idleMb + memory.grownMb, residentMb(pid)].map(toMb),
    ]),
    ...childrenOf(agent.pid).map((pid) => ['shim', '', '', '', toMb(residentMb(pid))]),
  ]);
} finally {
  await workplace.close();
}
