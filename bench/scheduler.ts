/**
 * The scheduler with a long queue on a busy cluster: how long a pass takes, and `GET /jobs` of the built server.
 * Usage: npm run bench -- scheduler [--jobs 10000] [--nodes 50] [--rounds 20]
 */
import { routes } from '@svc/contract';
import { openDatabase } from '@svc/kernel';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Lab } from '../plugins/jobs/test/support/lab.js';
import { createWorkplace } from '../test/support/workplace.js';
import { createScheduler, openBusyLab } from './scheduler/busy-lab.js';
import { insertQueued, QUEUES } from './scheduler/queued-jobs.js';
import { measure, printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '20' },
  },
});
const [jobs, nodes, rounds] = [Number(values.jobs), Number(values.nodes), Number(values.rounds)];

const lab = await openBusyLab(nodes);
try {
  const rows = [];
  for (const name of Object.keys(QUEUES)) rows.push(...(await measurePasses(lab, name)));
  console.log(`A scheduling pass, ${jobs} queued, ${nodes} nodes of 8 slots, in ms`);
  printTable([['queue', 'pass', 'median', 'p99'], ...rows]);
} finally {
  await lab.close();
}
console.log(`\nGET /jobs with ${jobs} queued, in ms`);
printTable([['query', 'median', 'p99'], ...(await measureLists())]);

async function measurePasses(lab: Lab, name: string): Promise<string[][]> {
  const { db } = lab.kernel;
  await db('jobs').delete();
  await insertQueued(db, jobs, QUEUES[name]!);
  const { scheduler, queue } = createScheduler(lab);
  const first = await measure(1, () => scheduler.pass({ whole: true }));
  const whole = await measure(rounds, () => scheduler.pass({ whole: true }));
  const ids = (await db('jobs').orderBy('id').limit(rounds).pluck('id')) as string[];
  const takeOne = async (round: number) => {
    await db('jobs').where({ id: ids[round]! }).update({ status: 'CANCELLED', pending_reason: null });
    queue.note(ids[round]!);
  };
  const woken = await measure(rounds, () => scheduler.pass({ whole: false }), takeOne);
  return [
    [name, 'the first: every reason is written', ...summarise(first)],
    [name, 'on the tick: reads the whole queue', ...summarise(whole)],
    [name, 'on a wake-up: one job has left', ...summarise(woken)],
  ];
}

async function measureLists(): Promise<string[][]> {
  const workplace = createWorkplace();
  try {
    const first = await workplace.startServer();
    first.kill();
    await first.ended;
    const db = await openDatabase({ client: 'sqlite', filename: path.join(workplace.dataDir, 'svc.db') });
    await insertQueued(db, jobs, QUEUES['mixed']!);
    const [{ middle }] = (await db('jobs').avg({ middle: 'created_at' })) as [{ middle: number }];
    await db.destroy();
    const { client } = await workplace.startServer();
    const before = Math.round(middle);
    const queries = [
      {},
      { status: 'QUEUED' },
      { limit: 1000 },
      { limit: 1000, status: 'QUEUED' },
      { before },
    ] as const;
    const rows = [];
    for (const query of queries) {
      const read = async () => (await client.open(routes.listJobs, { query })).arrayBuffer();
      const times = await measure(rounds * 2, read);
      rows.push([new URLSearchParams(query as never).toString() || '(none)', ...summarise(times)]);
    }
    return rows;
  } finally {
    await workplace.close();
  }
}
