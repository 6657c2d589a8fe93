import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createAgentLog, startAgent, type Agent } from '@svc/agent';
import { routes, type Job, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { scalarRecord } from '../../plugins/event-files/test/event-bytes.js';
import { StandIn } from '../../plugins/gpu-nvidia/testing/stand-in.js';
import { DockerEngine } from '../../plugins/runner-docker/test/support/docker-engine.js';
import { requireEngine } from '../support/engines.js';
import { createNamespace } from '../support/newcomer.js';
import { importPython } from '../support/python-image.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const PYTHON = 'svc-python:1';
/** Says how it reports, and goes on until its run is seen. */
const TRAINING = `
import os, time, svc
run = svc.init(name="in-a-container")
print(os.environ["SVC_URL"], flush=True)
for step in range(1200):
    run.log({"loss": 1 / (step + 1)}, step=step)
    if os.path.exists("enough"):
        break
    time.sleep(0.1)
run.finish()`;

/** Saves below a mount: a checkpoint of which it tells, an event file, and after a while a checkpoint of which it says nothing. */
const SAVING = `
import base64, os, time, svc
run = svc.init(name="saves")
def save(folder):
    os.makedirs(folder)
    with open(folder + "/model.bin", "w") as file:
        file.write("weights of " + folder)
save("/ckpts/checkpoint-20")
run.checkpoint("/ckpts/checkpoint-20", step=20)
os.makedirs("/ckpts/logs")
with open("/ckpts/logs/events.out.tfevents.1700000000.host.1.0", "wb") as file:
    file.write(base64.b64decode("${scalarRecord('loss', 3, 0.5).toString('base64')}"))
while not os.path.exists("/ckpts/go"):
    time.sleep(0.05)
save("/ckpts/checkpoint-30")
run.finish()`;
const EVALUATION = `
import json, os
path = os.environ["SVC_EVAL_CHECKPOINT"]
print(path, open(path + "/model.bin").read())
with open(os.environ["SVC_EVAL_OUTPUT"], "w") as file:
    json.dump({"metrics": {"acc": 0.9}, "runtime_s": 1}, file)`;

describe('jobs in containers', function () {
  this.timeout(180_000);
  let engine: DockerEngine;
  let workplace: Workplace;
  let server: Server;
  let agent: Agent;
  let project: string;
  let data: string;
  let programs: string;
  let smi: StandIn;

  before(async function () {
    requireEngine(this, 'docker');
    const python = requireEngine(this, 'python');
    programs = mkdtempSync(path.join(os.tmpdir(), 'svc-programs-'));
    smi = new StandIn({ gpus: 2, processes: [] });
    writeHook(programs);
    engine = await DockerEngine.create({ path: programs });
    await importPython(engine.client, python, PYTHON);
    workplace = createWorkplace();
    server = await workplace.startServer();
    project = path.join(workplace.dir, 'project');
    mkdirSync(project);
    data = path.join(workplace.dir, 'data');
    mkdirSync(path.join(data, 'ck'), { recursive: true });
    await begin();
  });
  after(async () => {
    await agent?.close();
    await workplace?.close();
    await engine?.close();
    smi?.remove();
    if (programs) rmSync(programs, { recursive: true });
  });

  async function begin(): Promise<void> {
    const { default: runnerDocker } = await import('@svc/plugin-runner-docker/agent');
    const { default: gpuNvidia } = await import('@svc/plugin-gpu-nvidia/agent');
    const { default: builtIn } = await import('../../svc.agent.config.js');
    const { token } = await server.client.call(routes.createToken, {
      body: { name: 'agent', scope: 'agent' },
    });
    const options = { socket: engine.socket, allowedMounts: [project, data] };
    agent = await startAgent({
      url: server.url,
      token,
      stateDir: path.join(workplace.dir, 'agent'),
      plugins: [
        ...builtIn.plugins.filter(({ name }) => !['runner-docker', 'gpu-nvidia'].includes(name)),
        runnerDocker(options),
        gpuNvidia({ nvidiaSmi: smi.program, intervalS: 0.2, kernelLog: '/nowhere' }),
      ],
      log: createAgentLog({ write: () => {} }),
    });
    await agent.ready;
  }

  const start = (code: string, runner_options: Record<string, unknown> = {}, gpus = 0) =>
    submit(server.client, {
      command: ['python3', '-c', code],
      runner: 'docker',
      runner_options: { image: PYTHON, pull: 'never', ...runner_options },
      working_dir: project,
      resources: gpus === 0 ? { cpu_only: true } : { gpu: gpus },
    });
  const ended = (job: Job) => untilJob(server.client, job.id, ({ finished_at }) => finished_at !== null);
  const lines = async (job: Job) => {
    const log = await server.client.call(routes.tailLogs, { params: { job_id: job.id } });
    return (log as { lines: { text: string }[] }).lines.map(({ text }) => text);
  };
  const runOf = async (job: Job): Promise<Run | undefined> =>
    (await server.client.call(routes.listRuns, { query: { job_id: job.id } })).items[0];

  it('report live to a server on loopback, with the SDK that the agent brings', async () => {
    const job = await start(TRAINING);
    await until(async () => ((await runOf(job))?.step ?? 0) >= 5, { timeoutMs: 60_000 });
    const [url = '', ...others] = (await lines(job)).sort();
    expect(others.join('\n')).to.contain(`is at ${server.url}/runs/`).and.not.contain(url);
    expect(url).to.match(/^http:\/\/172\.\d+\.0\.1:\d+\/[\w-]{22}$/);
    // The next agent answers at the same place.
    await agent.close();
    await begin();
    const before = (await runOf(job))?.step ?? 0;
    await until(async () => ((await runOf(job))?.step ?? 0) > before + 5, { timeoutMs: 60_000 });
    await start('open("enough", "w")');
    expect(await ended(job)).to.include({ status: 'SUCCEEDED' });
    expect(await runOf(job)).to.include({ status: 'SUCCEEDED' });
  });

  it('deliver their reports by the spool without a network', async () => {
    const job = await start(TRAINING.replace('1200', '20'), { network: 'none' });
    const done = await ended(job);
    expect(done, (await lines(job)).join('\n')).to.include({ status: 'SUCCEEDED' });
    await until(async () => (await runOf(job))?.status === 'SUCCEEDED', { timeoutMs: 60_000 });
  });

  it('reach the server by a relay that answers their network alone, there those alone who know its path', async function () {
    const ip = requireEngine(this, 'netns');
    const code = `
import os, time, urllib.request, urllib.error
url = os.environ["SVC_URL"]
print(url)
def ask(url):
    try:
        print(urllib.request.urlopen(url).status, flush=True)
    except urllib.error.HTTPError as error:
        print(error.code, flush=True)
ask(url + "/api/v1/health")
ask(url + "/api/v1/jobs")
ask(url.rsplit("/", 1)[0] + "/api/v1/health")
ask(url[:-1] + "/api/v1/health")`;
    const job = await start(code);
    expect(await ended(job)).to.include({ status: 'SUCCEEDED' });
    const [url = '', ...answers] = await lines(job);
    expect(answers).to.deep.equal(['200', '401', '404', '404']);
    const outside = createNamespace(ip);
    try {
      await promisify(execFile)(ip, ['-n', outside.name, 'route', 'add', 'default', 'via', outside.address]);
      const ask = `
import sys, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=5).status)
except Exception as error:
    print("refused" if "reset" in str(error) or "closed" in str(error) else error)`;
      const python = requireEngine(this, 'python');
      const command = ['netns', 'exec', outside.name, python, '-c', ask, `${url}/api/v1/health`];
      const asked = await promisify(execFile)(ip, command);
      expect(asked.stdout.trim()).to.equal('refused');
    } finally {
      outside.remove();
    }
    // From this host, by an address of another network.
    const answer = await new Promise((resolve) => {
      http
        .get(`${url}/api/v1/health`, { localAddress: '127.0.0.1' }, ({ statusCode }) => resolve(statusCode))
        .on('error', ({ code: reason }: NodeJS.ErrnoException) => resolve(reason));
    });
    expect(answer).to.equal('ECONNRESET');
  });

  async function seeOnGpu(gpu: number, job: Job) {
    const [container] = await engine.client.listContainers({ filters: { label: [`svc.job_id=${job.id}`] } });
    const { State, HostConfig } = await engine.client.getContainer(container?.Id ?? '').inspect();
    // The command itself, below the init of the container.
    const [pid] = childrenOf(State.Pid);
    smi.play({ gpus: 2, processes: [{ gpu, pid: pid as number, mb: 20_000 }] });
    const params = { node_id: job.node_id ?? '' };
    const snapshot = await until(async () => {
      const seen = await server.client.call(routes.getNodeSnapshot, { params });
      return seen.processes.length > 0 ? seen : null;
    });
    expect(snapshot.processes[0]).to.include({ gpu, pid, job_id: job.id, user: os.userInfo().username });
    const { slots } = await server.client.call(routes.getNode, { params });
    return { slots, devices: HostConfig.DeviceRequests?.[0]?.DeviceIDs };
  }
  const cancel = async (job: Job) => {
    await server.client.call(routes.cancelJob, { params: { job_id: job.id } });
    smi.play({ gpus: 2, processes: [] });
    expect(await ended(job)).to.include({ status: 'CANCELLED' });
  };
  const untilRuns = async (job: Job) => {
    await until(async () => (await lines(job)).length > 0);
    return untilJob(server.client, job.id, ({ status }) => status === 'RUNNING');
  };
  const SHOWN_GPUS =
    'import os, time\nprint([os.environ["CUDA_VISIBLE_DEVICES"]], flush=True)\ntime.sleep(600)';

  it('are told as the owners of what they run on a GPU', async () => {
    const job = await untilRuns(await start(SHOWN_GPUS));
    const { slots } = await seeOnGpu(1, job);
    expect(slots[1]?.health.reason).to.contain(` of ${job.id}, which does not hold it`);
    expect(await lines(job)).to.deep.equal(["['']"]);
    await cancel(job);
  });

  it('hold the GPU that they run on', async function () {
    if (!mayRaiseLimits()) this.skip();
    const job = await untilRuns(await start(SHOWN_GPUS, {}, 1));
    const [gpu = -1] = job.gpu_indices;
    const { slots, devices } = await seeOnGpu(gpu, job);
    expect(devices).to.deep.equal([slots[gpu]?.uuid]);
    expect(slots.map(({ health }) => health.state)).to.deep.equal(['ok', 'ok']);
    expect(await lines(job)).to.deep.equal(["['0']"]);
    await cancel(job);
  });

  it('have checkpoints and event files in a mount, found with their paths on the host, and evaluated', async () => {
    const folder = path.join(data, 'ck');
    const job = await start(SAVING, { mounts: [`${folder}:/ckpts`] });
    const PATIENCE = { timeoutMs: 60_000 };
    const { id: run_id } = await until(() => runOf(job), PATIENCE);
    const params = { run_id };
    const checkpoints = async () =>
      (await server.client.call(routes.listRunCheckpoints, { params })).items.map((found) => found.path);
    await until(async () => (await checkpoints()).length > 0, PATIENCE);
    await until(async () => {
      const query = { names: 'loss', limit: 10 };
      const { series } = await server.client.call(routes.readSeries, { params, query });
      return series['loss']?.values[0] === 0.5;
    }, PATIENCE);
    await agent.close();
    await begin();
    writeFileSync(path.join(folder, 'go'), '');
    expect(await ended(job), (await lines(job)).join('\n')).to.include({ status: 'SUCCEEDED' });
    await until(async () => (await checkpoints()).length > 1, PATIENCE);
    expect(await checkpoints()).to.have.members([`${folder}/checkpoint-20`, `${folder}/checkpoint-30`]);

    const command = ['python3', '-c', EVALUATION];
    const { items } = await server.client.call(routes.listRunCheckpoints, { params });
    for (const { id: ckpt_id, path: saved } of items) {
      const inside = saved.replace(folder, '/ckpts');
      const { job_id } = await server.client.call(routes.createEvaluation, {
        params: { ckpt_id },
        body: { command },
      });
      const evaluation = await server.client.call(routes.getJob, { params: { job_id } });
      expect(await ended(evaluation)).to.include({ status: 'SUCCEEDED' });
      expect(await lines(evaluation)).to.deep.equal([`${inside} weights of ${inside}`]);
    }
  });

  it('do not evaluate a checkpoint that they do not see, and say the mount that is missing', async () => {
    const { run_id } = await ended(await start('print(1)'));
    const saved = path.join(data, 'elsewhere.pt');
    writeFileSync(saved, 'weights');
    const { id: ckpt_id } = await server.client.call(routes.createCheckpoint, {
      params: { run_id: run_id ?? '' },
      body: { path: saved, step: 1 },
    });
    const { job_id } = await server.client.call(routes.createEvaluation, {
      params: { ckpt_id },
      body: { command: ['true'] },
    });
    const evaluation = await ended(await server.client.call(routes.getJob, { params: { job_id } }));
    expect(evaluation).to.include({ status: 'FAILED', failure_reason: 'DISPATCH_FAILED' });
    expect(evaluation.failure_message).to.contain(`add "${saved}:${saved}:ro" to its mounts`);
  });

  it('do not start with what the agent does not allow, and say the line that would', async () => {
    const job = await start('print(1)', { mounts: ['/etc:/host-etc:ro'] });
    const { failure_reason, failure_message } = await ended(job);
    expect(failure_reason).to.equal('DISPATCH_FAILED');
    expect(failure_message).to.contain(`runnerDocker({ allowedMounts: ['${project}', '${data}', '/etc'] })`);
  });
});

/** In place of the NVIDIA Container Toolkit: the engine takes requests for GPUs where there is such a program, and lets it bring them into the container. */
function writeHook(dir: string): void {
  const program = path.join(dir, 'nvidia-container-runtime-hook');
  writeFileSync(program, '#!/bin/sh\ncat > /dev/null\n');
  chmodSync(program, 0o755);
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

const CAP_SYS_RESOURCE = 24n;

/** Whether this machine lets an engine give a container with GPUs the limits that it needs: a sandbox may not. */
function mayRaiseLimits(): boolean {
  const effective = /^CapEff:\s+(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}
