import { routes, type NodeRecord } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const ANSWERS = path.join(ROOT, 'plugins/gpu-amd/test/fixtures/amd-smi-rocm-7.2-mi300x');
const PATIENT = { timeoutMs: 60_000, everyMs: 200 };

/** The real server and agent; a program that plays the recorded answers of two AMD GPUs stands for these. */
describe('the figures of a node', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let scratch: string;
  before(async () => {
    workplace = createWorkplace();
    // A file system of its own, on every Linux.
    scratch = mkdtempSync('/dev/shm/svc-figures-');
    server = await workplace.startServer();
    const bin = path.join(workplace.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'amd-smi'), `#!/bin/sh\nexec cat "${ANSWERS}/$1.json"\n`);
    chmodSync(path.join(bin, 'amd-smi'), 0o755);
    const body = { name: 'agent', scope: 'agent' } as const;
    const { token } = await server.client.call(routes.createToken, { body });
    const env = { SVC_URL: server.url, SVC_TOKEN: token, PATH: `${bin}:${process.env['PATH']}` };
    workplace.start(['agent', '--state-dir', path.join(workplace.dir, 'agent')], env);
  });
  after(async () => {
    await workplace.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  const listed = async (): Promise<NodeRecord | undefined> =>
    (await server.client.call(routes.listNodes)).items[0];
  const untilLive = () =>
    until(async () => {
      const node = await listed();
      const isWhole =
        node?.live?.cpu_util !== null && node?.slots.every(({ utilization }) => utilization !== null);
      return node?.live && isWhole ? node : undefined;
    }, PATIENT);

  function expectLive({ live, slots, system }: NodeRecord): void {
    expect(
      slots.map(({ model, utilization, temperature_c }) => [model, utilization, temperature_c]),
    ).to.deep.equal([
      ['AMD Instinct MI300X', 94, 71],
      ['AMD Instinct MI300X', 0, 38],
    ]);
    expect(slots[0]).to.deep.include({
      power_w: 612,
      memory_used_mb: 17_153,
      sm_clock_mhz: 2087,
      mem_clock_mhz: 900,
    });
    expect(slots[0]?.processes).to.have.length(1);
    expect(slots[1]).to.deep.include({ power_w: null, processes: [] });
    expect(live?.cpu_util).to.be.within(0, 100);
    expect(live?.ram_used_mb).to.be.within(1, system.ram_total_mb);
    expect(live?.disk_free_gb).to.be.above(0);
  }

  it('are in the list and in the record, a few seconds after the start of the agent', async () => {
    const node = await untilLive();
    expectLive(node);
    expectLive(await server.client.call(routes.getNode, { params: { node_id: node.id } }));
  });

  it('have the processes of a job and the disk on which it works', async () => {
    const command = ['sh', '-c', 'while :; do :; done'];
    const { id } = await submit(server.client, { command, working_dir: scratch, resources: { gpu: 1 } });
    const { node_id } = await untilJob(server.client, id, ({ status }) => status === 'RUNNING');
    const snapshot = await until(async () => {
      const found = await server.client.call(routes.getNodeSnapshot, {
        params: { node_id: node_id as string },
      });
      const isShown = found.host_processes.some(
        ({ job_id, cpu_percent }) => job_id === id && (cpu_percent ?? 0) > 1,
      );
      return isShown && 'disk./dev/shm.free_gb' in found.metrics ? found : undefined;
    }, PATIENT);
    const busiest = snapshot.host_processes
      .filter(({ job_id }) => job_id === id)
      .sort((a, b) => (b.cpu_percent ?? 0) - (a.cpu_percent ?? 0))[0];
    expect(busiest).to.include({ name: 'sh' });
    const free = snapshot.metrics['disk./dev/shm.free_gb']?.value ?? NaN;
    expect(free).to.be.at.most(snapshot.metrics['disk./dev/shm.total_gb']?.value ?? NaN);
    await server.client.call(routes.cancelJob, { params: { job_id: id } });
    await untilJob(server.client, id, ({ status }) => status === 'CANCELLED');
  });

  it('are there again after a restart of the server', async () => {
    server.kill('SIGTERM');
    await server.ended;
    server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
    expectLive(await untilLive());
  });
});
