import { routes } from '@svc/contract';
import type { Client } from '@svc/client';
import { pointsFrom } from '../metrics/points.js';

const MOST_AT_ONCE = 10_000;
const PARALLEL = 8;

/** In sections, as trainings name them. */
export function metricNames(count: number): string[] {
  const parts = ['train', 'val', 'optim', 'perf'];
  return Array.from({ length: count }, (_, at) => `${parts[at % parts.length]}/metric_${at}`);
}

/** A run with `steps` points of each of the metrics; answers its id. */
export async function reportRun(
  client: Client,
  { name, metrics, steps, config = {} }: { name: string; metrics: number; steps: number; config?: object },
): Promise<string> {
  const { id } = await client.call(routes.createRun, { body: { name, config: { ...config } } });
  const names = metricNames(metrics);
  for (let seq = 0; seq < metrics * steps; seq += MOST_AT_ONCE) {
    const points = pointsFrom(seq, Math.min(MOST_AT_ONCE, metrics * steps - seq), names);
    await client.call(routes.writePoints, { params: { run_id: id }, body: { points } });
  }
  await client.call(routes.finishRun, { params: { run_id: id }, body: { status: 'SUCCEEDED' } });
  return id;
}

/** Runs as a sweep leaves them, each with a config, tags and a few points. */
export async function createRuns(client: Client, count: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await createRun(client, at);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

async function createRun(client: Client, at: number): Promise<void> {
  const config = { lr: 1e-4 * (1 + (at % 10)), batch: 2 ** (5 + (at % 5)), optimizer: 'adamw', seed: at };
  const body = { name: `resnet-50 #${at}`, config, tags: ['sweep', `part-${at % 7}`] };
  const { id } = await client.call(routes.createRun, { body });
  const points = pointsFrom(0, 8, ['train/loss', 'val/loss', 'val/accuracy', 'lr']);
  await client.call(routes.writePoints, { params: { run_id: id }, body: { points } });
  await client.call(routes.finishRun, { params: { run_id: id }, body: { status: 'SUCCEEDED' } });
}
