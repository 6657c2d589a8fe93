import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Program } from '../../test/support/program.js';
import { submit, untilJob, type Server, type Workplace } from '../../test/support/workplace.js';
import type { Engine } from './engine.js';

const ROW_PATIENCE_MS = 10 * 60_000;

export interface Svc extends Engine {
  readonly server: Server;
  readonly agent: Program;
}

/** The built server with one agent that has one virtual GPU. */
export async function startSvcEngine(workplace: Workplace): Promise<Svc> {
  const server = await workplace.startServer();
  const agent = await workplace.startAgent(server, ['--virtual-gpus', '1']);
  const { client } = server;
  let serial = 0;
  return {
    name: 'svc',
    server,
    agent,
    async timeStart() {
      const stamp = path.join(workplace.dir, `start-${serial++}`);
      const submittedMs = Date.now();
      const { id } = await submit(client, {
        command: ['/bin/sh', '-c', `date +%s%3N > ${stamp}`],
        resources: { gpu: 1 },
      });
      await untilJob(client, id, ({ status }) => status === 'SUCCEEDED');
      return Number(readFileSync(stamp, 'utf8')) - submittedMs;
    },
    async timeRow(count) {
      const jobs: Job[] = [];
      for (let index = 0; index < count; index++)
        jobs.push(await submit(client, { command: ['true'], resources: { gpu: 1 } }));
      const isOver = async () => (await client.call(routes.getStatus)).jobs.SUCCEEDED >= serial + count;
      await until(isOver, { timeoutMs: ROW_PATIENCE_MS, everyMs: 200 });
      serial += count;
      const ended = await Promise.all(
        [jobs[0]!, jobs.at(-1)!].map(({ id }) => client.call(routes.getJob, { params: { job_id: id } })),
      );
      return (ended[1]!.finished_at! - ended[0]!.started_at!) / 1000;
    },
  };
}
