/**
 * The main job: how long from a submit to the start of its process, and what idle server, agent and shim hold in memory.
 * The start is the moment that the process itself reads from the clock, so the job's own start-up is counted too.
 * Beside Slurm, each takes its turn, job by job; then both run a row of jobs through one slot.
 * Usage: npm run bench -- main-job [--jobs 100] [--beside slurm [--row 50]]
 */
import { parseArgs } from 'node:util';
import { residentMb } from '../test/support/processes.js';
import { createWorkplace } from '../test/support/workplace.js';
import type { Engine } from './engines/engine.js';
import { findSlurmTrouble, startSlurmEngine } from './engines/slurm.js';
import { startSvcEngine, type Svc } from './engines/svc.js';
import { childrenOf } from './support/process-tree.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '100' },
    row: { type: 'string', default: '50' },
    beside: { type: 'string' },
  },
});
const jobs = Number(values.jobs);
const row = Number(values.row);
const WARM_UP = Math.min(5, jobs - 1);

const trouble = values.beside === 'slurm' ? findSlurmTrouble() : null;
if (trouble !== null) {
  console.error(trouble);
  process.exit(1);
}
const workplace = createWorkplace();
try {
  const svc = await startSvcEngine(workplace);
  if (values.beside === 'slurm') await measureBeside(svc);
  else await measureAlone(svc);
} finally {
  await workplace.close();
}

async function measureAlone(svc: Svc): Promise<void> {
  const { server, agent } = svc;
  const [starts = []] = await timeStarts([svc]);
  printTable([
    ['figure', 'median', 'p99', 'unit'],
    ['submit to process start', ...summarise(starts), 'ms'],
    ['server resident', residentMb(server.pid).toFixed(0), '', 'MB'],
    ['agent resident', residentMb(agent.pid).toFixed(0), '', 'MB'],
    ...childrenOf(agent.pid).map((pid) => ['warm shim resident', residentMb(pid).toFixed(0), '', 'MB']),
  ]);
}

async function measureBeside(svc: Svc): Promise<void> {
  const slurm = await startSlurmEngine();
  try {
    const engines = [svc, slurm];
    const starts = (await timeStarts(engines)).map((times) => summarise(times).map(Number));
    const rows = [await svc.timeRow(row), await slurm.timeRow(row)];
    const compare = (what: string, [ours = NaN, theirs = NaN]: readonly (number | undefined)[]) => [
      what,
      String(ours),
      String(theirs),
      `${(theirs / ours).toFixed(1)} times`,
    ];
    printTable([
      ['figure', 'svc', 'Slurm', 'ratio'],
      compare(
        'submit to process start, median, ms',
        starts.map(([median]) => median),
      ),
      compare(
        'submit to process start, p99, ms',
        starts.map(([, p99]) => p99),
      ),
      compare(`${row} jobs of true, one slot, s`, rows),
    ]);
  } finally {
    await slurm.close();
  }
}

/** For each engine its times; the first few, with everything cold, are left out. */
async function timeStarts(engines: readonly Engine[]): Promise<number[][]> {
  const times: number[][] = engines.map(() => []);
  for (let index = 0; index < jobs; index++) {
    for (const [which, engine] of engines.entries()) times[which]!.push(await engine.timeStart());
  }
  return times.map((each) => each.slice(WARM_UP));
}
