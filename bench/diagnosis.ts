/**
 * The diagnosis of a run that is large in every way: points, metrics, lines of log, events, a day of node metrics; and how long /health waits
 * beside it. Client and server share one process.
 * Usage: npm run bench -- diagnosis [--points 5000000] [--metrics 50] [--lines 1000000] [--events 10000] [--rounds 100]
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { routes, type Diagnosis } from '@svc/contract';
import { createTestKernel } from '@svc/kernel/testing';
import { createToken } from '@svc/plugin-auth';
import { eventsRef } from '@svc/plugin-events';
import { failuresRef } from '@svc/plugin-failures';
import { logsRef } from '@svc/plugin-logs';
import { metricsRef } from '@svc/plugin-metrics';
import { shipper } from '../plugins/logs/test/support/shipper.js';
import { insertChunk } from '../plugins/node-metrics/src/chunk-store.js';
import { JobAgent } from '../plugins/runs/test/support/job-agent.js';
import config from '../svc.config.js';
import { measure, printTable, summarise } from './support/report.js';
import { watchHealth } from './support/watch-health.js';

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '5000000' },
    metrics: { type: 'string', default: '50' },
    lines: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '100' },
  },
});
const POINTS = Number(values.points);
const METRICS = Number(values.metrics);
const LINES = Number(values.lines);
const EVENTS = Number(values.events);
const DAY_MS = 86_400_000;
const POINTS_AT_ONCE = 50_000;
const LINES_AT_ONCE = 2_000;

const kernel = await createTestKernel({ plugins: config.plugins });
const draft = { name: 'bench', expires_at: null };
const { token } = await createToken(kernel.db, { ...draft, scope: 'write' }, Date.now());
const ofAgent = await createToken(kernel.db, { ...draft, scope: 'agent' }, Date.now());
const agent = new JobAgent(kernel.url, ofAgent.token);
try {
  await agent.connect();
  const job = await request('POST', '/jobs', { command: ['train'], resources: { gpu: 2 } });
  await agent.startJob(job.id);
  const run_id = await runOf(job.id);
  await kernel
    .db('runs')
    .where({ id: run_id })
    .update({ started_at: Date.now() - DAY_MS });
  await writePoints(run_id);
  await writeLines(job.id);
  await writeEvents(run_id);
  await writeNodeMetrics();
  const path = `/runs/${run_id}/diagnosis`;
  const [first] = await measure(1, () => request('GET', path));
  const pulse = watchHealth(() => kernel.request('GET', '/health'));
  const times = await measure(Number(values.rounds), () => request('GET', path));
  const waits = await pulse.stop();
  const found = (await request('GET', path)) as unknown as Diagnosis;
  console.log(`${found.summary} ${found.anomalies.length} findings, ${found.gpu?.slots.length ?? 0} GPUs`);
  const title = `${POINTS} points of ${METRICS} metrics, ${LINES} lines, ${EVENTS} events, a day of node metrics (ms)`;
  printTable([
    [title, 'first', 'median', 'p99', 'longest wait of /health'],
    ['diagnosis', first!.toFixed(1), ...summarise(times), Math.max(...waits).toFixed(1)],
  ]);
} finally {
  await agent.close();
  await kernel.close();
}

async function request(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ id: string; run_id: string }> {
  const answer = await kernel.request(method, path, { token, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as { id: string; run_id: string };
}

async function runOf(jobId: string): Promise<string> {
  for (;;) {
    const { run_id } = await request('GET', routes.getJob.path.replace('{job_id}', jobId));
    if (run_id !== null) return run_id;
    await setTimeout(20);
  }
}

async function writePoints(run_id: string): Promise<void> {
  const metrics = kernel.use(metricsRef);
  const steps = Math.ceil(POINTS / METRICS);
  const from = Date.now() - DAY_MS;
  const stepsAtOnce = Math.max(1, Math.floor(POINTS_AT_ONCE / METRICS));
  for (let begin = 0; begin < steps; begin += stepsAtOnce) {
    const points = [];
    for (let step = begin; step < Math.min(steps, begin + stepsAtOnce); step += 1)
      for (let metric = 0; metric < METRICS; metric += 1) {
        const value = (1 + 0.1 * Math.random()) / (1 + step / 1000);
        const ts = from + Math.floor((step / steps) * DAY_MS);
        points.push({ seq: step * METRICS + metric, name: `layer${metric}/loss`, step, value, ts });
      }
    await metrics.write({ run_id, points, at: Date.now() });
    await setTimeout(1);
  }
}

async function writeLines(jobId: string): Promise<void> {
  const ship = shipper(agent, jobId);
  for (let begin = 0; begin < LINES; begin += LINES_AT_ONCE) {
    const lines = Array.from({ length: LINES_AT_ONCE }, (_, index) =>
      index % 1000 === 0
        ? `UserWarning: step ${begin + index} timed out`
        : `step ${begin + index} loss 0.123456 lr 3.0e-04 tokens/s 123456`,
    );
    await ship.lines('stdout', lines);
    agent.frames.length = 0;
  }
  const key = { job_id: jobId, attempt: 1 };
  while ((await kernel.use(logsRef).nextSeq(key)) < LINES) await setTimeout(20);
  await kernel.use(failuresRef).lastErrors(key, 1);
}

async function writeEvents(run_id: string): Promise<void> {
  const events = kernel.use(eventsRef);
  for (let begin = 0; begin < EVENTS; begin += 1000) {
    await kernel.ctx.transaction(async (tx) => {
      for (let index = begin; index < Math.min(EVENTS, begin + 1000); index += 1) {
        const severity = index % 2 === 0 ? 'warning' : 'info';
        await events.append(tx, { type: 'CUSTOM', severity, title: `event ${index % 100}`, run_id });
      }
    });
    await setTimeout(1);
  }
}

/** 8 GPUs, each 5 minutes a chunk. */
async function writeNodeMetrics(): Promise<void> {
  const sampleMs = 2_000;
  const chunkMs = 300_000;
  const names = Array.from({ length: 8 }, (_, gpu) =>
    ['util', 'mem_used_mb', 'mem_total_mb', 'temp_c', 'power_w'].map((what) => `gpu.${gpu}.${what}`),
  ).flat();
  for (let from = Date.now() - DAY_MS; from < Date.now(); from += chunkMs) {
    const ts = Array.from({ length: chunkMs / sampleMs }, (_, index) => Math.floor(from) + sampleMs * index);
    const columns = new Map(names.map((name) => [name, ts.map(() => 100 * Math.random())]));
    await insertChunk(kernel.db, agent.nodeId, 'raw', { ts, columns });
  }
}
