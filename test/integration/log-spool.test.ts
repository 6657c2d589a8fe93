import { expect } from 'chai';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { createCuttingProxy, type CuttingProxy } from '../faults/cutting-proxy.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const MIB = 1024 * 1024;
const LINES = 200_000;
const NOTICE = /^\[svc\] (\d+) lines were given up here at \S+Z: the log spool of the node was full$/;

const toLine = (index: number): string => `line ${index} of a job that prints while nobody listens`;

/** Says that it has begun, waits for a sign, prints far more than the spool takes, and ends. */
const SCRIPT = `
import os, sys, time
print("begun", flush=True)
while not os.path.exists("go"): time.sleep(0.02)
for i in range(${LINES}): print(f"line {i} of a job that prints while nobody listens")
sys.stdout.flush()
open("done", "w").close()
while os.path.exists("go"): time.sleep(0.02)
print("the end", flush=True)
`;

describe('a log spool that is full while the server is away', () => {
  let workplace: Workplace;
  let server: Server;
  let proxy: CuttingProxy;
  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    proxy = await createCuttingProxy(Number(new URL(server.url).port));
    await workplace.startAgent(Object.create(server, { url: { value: proxy.url } }) as Server, [
      '--spool-max-mb',
      '2',
    ]);
  });
  after(async () => {
    await workplace.close();
    await proxy.close();
  });

  it('gives up its oldest lines, and the record, the log and the download say how many', async () => {
    const { client } = server;
    const { id } = await submit(client, {
      command: ['python3', '-c', SCRIPT],
      resources: { cpu_only: true },
    });
    await untilJob(client, id, ({ status }) => status === 'RUNNING');
    const tail = () => client.call(routes.tailLogs, { params: { job_id: id }, query: { tail: 2000 } });
    await until(async () => (await tail()).lines.length === 1, { timeoutMs: 30_000 });

    proxy.cut('refuse', 'agent');
    const dir = path.join(workplace.dir, 'agent', 'jobs', id, 'attempt-1');
    const work = path.join(dir, 'work');
    writeFileSync(path.join(work, 'go'), '');
    await until(() => readdirSync(work).includes('done'), { timeoutMs: 30_000 });
    await until(() => statSync(path.join(dir, 'stdout')).blocks * 512 <= 2 * MIB, { timeoutMs: 30_000 });
    proxy.heal();
    rmSync(path.join(work, 'go'));
    await untilJob(client, id, ({ status }) => status === 'SUCCEEDED');
    await until(async () => (await tail()).lines.at(-1)?.text === 'the end', { timeoutMs: 30_000 });

    const { dropped } = await tail();
    const response = await client.open(routes.downloadLogs, { params: { job_id: id } });
    const [begun, notice = '', ...rest] = (await response.text()).trimEnd().split('\n');
    expect(begun).to.equal('begun');
    expect(Number(NOTICE.exec(notice)?.[1])).to.equal(dropped);
    const kept = Array.from({ length: LINES - dropped }, (_, index) => toLine(dropped + index));
    expect(rest).to.deep.equal([...kept, 'the end']);
    expect(kept.length * toLine(LINES).length).to.be.within(1 * MIB, 2 * MIB);
  }).timeout(120_000);
});
