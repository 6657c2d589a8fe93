import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createAgentLog, startAgent, type Agent } from '@svc/agent';
import { routes, type Job, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { DockerEngine } from '../../plugins/runner-docker/test/support/docker-engine.js';
import { requireEngine } from '../support/engines.js';
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

describe('jobs in containers', function () {
  this.timeout(180_000);
  let engine: DockerEngine;
  let workplace: Workplace;
  let server: Server;
  let agent: Agent;
  let project: string;

  before(async function () {
    requireEngine(this, 'docker');
    const python = requireEngine(this, 'python');
    engine = await DockerEngine.create();
    await importPython(engine.client, python, PYTHON);
    workplace = createWorkplace();
    server = await workplace.startServer();
    project = path.join(workplace.dir, 'project');
    mkdirSync(project);
    await begin();
  });
  after(async () => {
    await agent?.close();
    await workplace?.close();
    await engine?.close();
  });

  async function begin(): Promise<void> {
    const { default: runnerDocker } = await import('@svc/plugin-runner-docker/agent');
    const { default: builtIn } = await import('../../svc.agent.config.js');
    const { token } = await server.client.call(routes.createToken, {
      body: { name: 'agent', scope: 'agent' },
    });
    const options = { socket: engine.socket, allowedMounts: [project] };
    agent = await startAgent({
      url: server.url,
      token,
      stateDir: path.join(workplace.dir, 'agent'),
      plugins: builtIn.plugins.map((plugin) =>
        plugin.name === 'runner-docker' ? runnerDocker(options) : plugin,
      ),
      log: createAgentLog({ write: () => {} }),
    });
    await agent.ready;
  }

  const start = (code: string, runner_options: Record<string, unknown> = {}) =>
    submit(server.client, {
      command: ['python3', '-c', code],
      runner: 'docker',
      runner_options: { image: PYTHON, pull: 'never', ...runner_options },
      working_dir: project,
      resources: { cpu_only: true },
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
    const [url = ''] = await lines(job);
    expect(url).to.match(/^http:\/\/172\.\d+\.0\.1:\d+$/);
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

  it('are answered by the relay alone, which others than containers do not reach', async () => {
    const code = `
import os, urllib.request, urllib.error
url = os.environ["SVC_URL"]
print(urllib.request.urlopen(url + "/api/v1/health").status)
try:
    urllib.request.urlopen(url + "/api/v1/jobs")
except urllib.error.HTTPError as error:
    print(error.code)`;
    const job = await start(code);
    expect(await ended(job)).to.include({ status: 'SUCCEEDED' });
    expect(await lines(job)).to.deep.equal(['200', '401']);
  });

  it('do not start with what the agent does not allow, and say the line that would', async () => {
    const job = await start('print(1)', { mounts: ['/etc:/host-etc:ro'] });
    const { failure_reason, failure_message } = await ended(job);
    expect(failure_reason).to.equal('DISPATCH_FAILED');
    expect(failure_message).to.contain(`runnerDocker({ allowedMounts: ['${project}', '/etc'] })`);
  });
});
