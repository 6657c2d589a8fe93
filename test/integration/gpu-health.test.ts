import { routes, type EventRecord } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { StandIn } from '../../plugins/gpu-nvidia/testing/stand-in.js';
import {
  createWorkplace,
  submit,
  untilJob,
  untilPrinted,
  type Server,
  type Workplace,
} from '../support/workplace.js';

/** The built server and the built agent, with a stand-in for nvidia-smi. */
describe('GPUs that cannot take a job', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let smi: StandIn;
  let other: ChildProcess;
  before(async () => {
    workplace = createWorkplace();
    smi = new StandIn({ gpus: 1, processes: [] });
    other = spawn('sleep', ['600'], { env: {}, stdio: 'ignore' });
    server = await workplace.startServer();
    const { token } = await server.client.call(routes.createToken, {
      body: { name: 'agent', scope: 'agent' },
    });
    const agent = workplace.start(['agent', '--name', 'node-1', '--state-dir', `${workplace.dir}/agent`], {
      PATH: `${smi.dir}:${process.env['PATH']}`,
      SVC_URL: server.url,
      SVC_TOKEN: token,
    });
    await untilPrinted(agent, /(connected)/, 'stderr');
  });
  after(async () => {
    other?.kill('SIGKILL');
    await workplace?.close();
    smi?.remove();
  });

  const slot = async () => (await server.client.call(routes.listNodes)).items[0]?.slots[0];
  const isIn = (state: string) =>
    until(async () => (await slot())?.health.state === state, { timeoutMs: 30_000 });
  const events = async (): Promise<readonly EventRecord[]> =>
    (await server.client.call(routes.listEvents, { query: { type: 'GPU_UNHEALTHY' } })).items;
  const nodes = async () => (await workplace.svc(['nodes'], { SVC_URL: server.url })).stdout;

  it('keeps a job from a GPU that another process uses, and says which', async () => {
    smi.play({ gpus: 1, processes: [{ gpu: 0, pid: other.pid ?? 0, mb: 10_240, name: 'python' }] });
    await isIn('foreign');
    const { id } = await submit(server.client, { command: ['true'] });
    const reason = new RegExp(
      `GPU 0 of node-1 is used by python \\(pid ${other.pid}, .+, 10 GiB\\), which is not a job of svc$`,
    );
    await untilJob(server.client, id, ({ pending_reason }) => reason.test(pending_reason ?? ''));
    expect(await nodes())
      .to.match(/0\/1 NVIDIA A100-SXM4-80GB, 1 foreign/)
      .and.to.match(new RegExp(reason, 'm'));
    smi.play({ gpus: 1, processes: [] });
    await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
  });

  it('gives the GPU to the next job when it is proven free, and tells of one that is not, once', async () => {
    const first = await submit(server.client, { command: ['sleep', '600'] });
    const second = await submit(server.client, { command: ['true'] });
    await untilJob(server.client, first.id, ({ status }) => status === 'RUNNING');
    smi.play({ gpus: 1, processes: [], usedMb: { 0: 30_720 } });
    await server.client.call(routes.cancelJob, { params: { job_id: first.id } });
    await untilJob(server.client, first.id, ({ status }) => status === 'CANCELLED');
    const waiting = await untilJob(server.client, second.id, ({ pending_reason }) =>
      /still has/.test(pending_reason ?? ''),
    );
    expect(waiting.pending_reason).to.include(
      'GPU 0 of node-1 still has 30 GiB of its memory in use by no process that can be seen',
    );
    await until(async () => (await events()).length > 0, { timeoutMs: 60_000 });
    smi.play({ gpus: 1, processes: [] });
    await untilJob(server.client, second.id, ({ status }) => status === 'SUCCEEDED');
    await until(async () => (await events()).length > 1, { timeoutMs: 30_000 });
    expect((await events()).map(({ severity, title }) => [severity, title])).to.deep.equal([
      ['info', 'GPU 0 of node-1 takes jobs again'],
      ['warning', 'GPU 0 of node-1 is quarantined'],
    ]);
  });
});
