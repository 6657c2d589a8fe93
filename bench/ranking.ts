/**
 * Rankings: the best of so many checkpoints of so many runs with so many evaluations, comparisons of 50 runs and of 50 checkpoints, the list of
 * a run's checkpoints with the best one marked, and how long /health waits beside each.
 * Usage: npm run bench -- ranking [--runs 50] [--points 10000] [--checkpoints 1000] [--evaluations 3000] [--rounds 30]
 */
import { newId, type Run } from '@svc/contract';
import type { Tx } from '@svc/kernel';
import { createTestKernel } from '@svc/kernel/testing';
import { createToken } from '@svc/plugin-auth';
import { metricsRef } from '@svc/plugin-metrics';
import { runsRef } from '@svc/plugin-runs';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { insertCheckpoint } from '../plugins/checkpoints/src/store.js';
import { endEvaluation, insertEvaluation, storeResult } from '../plugins/evaluations/src/store.js';
import config from '../svc.config.js';
import { measure, printTable, summarise } from './support/report.js';
import { watchHealth } from './support/watch-health.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    points: { type: 'string', default: '10000' },
    checkpoints: { type: 'string', default: '1000' },
    evaluations: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '30' },
  },
});
const RUNS = Number(values.runs);
const POINTS = Number(values.points);
const MOST_COMPARED = 50;

const kernel = await createTestKernel({ plugins: config.plugins });
try {
  const draft = { name: 'bench', scope: 'write', expires_at: null } as const;
  const { token } = await createToken(kernel.db, draft, Date.now());
  const request = async (method: string, path: string, body?: unknown) => {
    const answer = await kernel.request(method, path, { token, ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as { id: string };
  };
  const { id: experiment } = await request('POST', '/experiments', { name: 'ranked' });
  const runs: Run[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const { id } = await request('POST', '/runs', { name: `run-${index}`, experiment });
    runs.push(await kernel.use(runsRef).require(kernel.db, id));
    const points = Array.from({ length: POINTS }, (_, seq) => ({
      seq,
      name: 'loss',
      step: seq,
      value: 1 + Math.sin(seq),
    }));
    await kernel.use(metricsRef).write({ run_id: id, points, at: Date.now() });
  }
  const ids: string[] = [];
  const saved = Number(values.checkpoints);
  await inBatches(saved, async (tx, index) => {
    const id = newId('checkpoint');
    const run_id = runs[index % RUNS]!.id;
    const step = Math.floor((index / saved) * POINTS);
    const rest = {
      epoch: null,
      size: 1,
      metadata: { evaluations: [] },
      source: 'api' as const,
      created_at: Date.now(),
      deleted_at: null,
    };
    await insertCheckpoint(tx, { id, run_id, step, path: `/out/checkpoint-${index}`, ...rest });
    ids.push(id);
  });
  await inBatches(Number(values.evaluations), async (tx, index) => {
    const id = newId('evaluation');
    const labels = { suite: 'heldout', dataset: 'digits', dataset_version: '1' };
    const checkpoint_id = ids[index % ids.length]!;
    const run_id = runs[(index % ids.length) % RUNS]!.id;
    await insertEvaluation(tx, {
      id,
      checkpoint_id,
      run_id,
      job_id: newId('job'),
      created_at: Date.now(),
      ...labels,
    });
    const metrics = { acc: Math.random(), loss: Math.random(), f1: Math.random() };
    await storeResult(tx, id, 1, { metrics, runtime_s: 1 });
    await endEvaluation(tx, id, { status: 'SUCCEEDED', error: null, finished_at: Date.now() });
  });
  const runIds = runs
    .slice(0, MOST_COMPARED)
    .map(({ id }) => id)
    .join(',');
  const checkpointIds = ids.slice(0, MOST_COMPARED).join(',');
  const questions: [string, string][] = [
    ['best checkpoint, by evaluations', `/experiments/${experiment}/best-checkpoint?metric=acc`],
    [
      'best checkpoint, by the trainings',
      `/experiments/${experiment}/best-checkpoint?metric=loss&suite=none`,
    ],
    ['compare 50 runs', `/runs/compare?metric=loss&ids=${runIds}`],
    ['compare 50 checkpoints', `/checkpoints/compare?metric=loss&ids=${checkpointIds}`],
    ['100 checkpoints of a run, the best marked', `/runs/${runs[0]!.id}/checkpoints`],
  ];
  await request('PUT', '/primary-metric', { name: 'acc' });
  const rows: string[][] = [];
  for (const [what, path] of questions) {
    const pulse = watchHealth(() => kernel.request('GET', '/health'));
    const times = await measure(Number(values.rounds), () => request('GET', path));
    rows.push([what, ...summarise(times), Math.max(...(await pulse.stop())).toFixed(1)]);
  }
  const title = `${RUNS} runs, ${saved} checkpoints, ${values.evaluations} evaluations (ms)`;
  printTable([[title, 'median', 'p99', 'longest wait of /health'], ...rows]);
} finally {
  await kernel.close();
}

async function inBatches(count: number, insert: (tx: Tx, index: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += 1000) {
    await kernel.ctx.transaction(async (tx) => {
      for (let index = first; index < Math.min(first + 1000, count); index += 1) await insert(tx, index);
    });
    // So that connections that the server closes meanwhile are not used again.
    await setTimeout(1);
  }
}
