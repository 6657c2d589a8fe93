import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { snapshots } from '@svc/plugin-snapshots';
import { expect } from 'chai';
import { Rig } from '../../../plugins/runs/test/support/rig.js';
import { runHere, startSvc } from '../support/svc.js';

/** What is new with every job. */
const OWN = ['id', 'created_at', 'queued_at', 'pending_reason', 'status', 'attempt'] as const;

describe('svc resubmit', () => {
  let rig: Rig;
  let home: string;
  let env: NodeJS.ProcessEnv;
  beforeEach(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), 'svc-resubmit-'));
    const dataDir = path.join(home, 'data');
    mkdirSync(dataDir);
    rig = await Rig.start({ dataDir, plugins: [logs(), snapshots()] });
    env = { HOME: home, SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.write };
  });
  afterEach(async () => {
    await rig.close();
    rmSync(home, { recursive: true });
  });

  async function resubmit(...args: string[]): Promise<Job> {
    const { status, stdout, stderr } = await runHere(['resubmit', '--json', ...args], env);
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as Job;
  }
  const read = async (id: string) => (await rig.get(`/jobs/${id}`, rig.tokens.write)).body as Job;
  function toGiven(job: Job): Partial<Job> {
    const entries = Object.entries(job).filter(([name]) => !(OWN as readonly string[]).includes(name));
    return Object.fromEntries(entries) as Partial<Job>;
  }

  /** Everything that a submit may say, with a secret. */
  const WHOLE = {
    name: 'resnet',
    command: ['python3', 'train.py', '--lr', '0.1'],
    working_dir: '/data/p',
    env: { API_KEY: 'a secret', LR: '0.1' },
    resources: { gpu: 64 },
    priority: -7,
    max_attempts: 3,
    node_selector: { rack: 'a' },
    runner_options: { image: 'i:1' },
    project: 'vision',
    experiment: 'e',
  };

  it('submits the same again, secrets included, and prints the id as submit does', async () => {
    const job = await rig.submit(WHOLE);
    const { status, stdout, stderr } = await runHere(['resubmit', job.id.slice(-8).toLowerCase()], env);
    expect(status, stderr).to.equal(0);
    expect(stdout).to.match(/^job_\w{26}\n$/);
    expect(stderr).to.equal(`like ${job.id} (resnet)\n`);
    const fresh = await read(stdout.trim());
    expect(fresh.id).to.not.equal(job.id);
    expect(toGiven(fresh)).to.deep.equal(toGiven(await read(job.id)));
    expect(fresh).to.deep.include({ status: 'QUEUED', attempt: 1, env: WHOLE.env });
  });

  it('of a job that has ended, with what is given in place of the same', async () => {
    const agent = await rig.agent();
    const job = await rig.submit({ max_attempts: 2 });
    await agent.startJob(job.id);
    agent.end(job.id, { kind: 'exited', code: 3 });
    await rig.reach(job.id, 'FAILED');
    await agent.close();
    const fresh = await resubmit('train');
    expect(fresh).to.deep.include({
      name: 'train',
      run_id: null,
      exit_code: null,
      attempt: 1,
      max_attempts: 2,
      resources: { gpu: 0, cpu_only: true },
    });
    const args = ['--name', 'second', '--gpu', '64', '--priority', '5', '--max-attempts', '4'];
    const other = await resubmit(...args, fresh.id);
    expect(other).to.deep.include({ name: 'second', priority: 5, max_attempts: 4 });
    expect(other.resources).to.deep.equal({ gpu: 64, cpu_only: false });
    expect(await read(job.id)).to.include({ status: 'FAILED', attempt: 1 });
  });

  it('uses the same uploaded files', async () => {
    const project = path.join(home, 'project');
    mkdirSync(project);
    writeFileSync(path.join(project, 'train.sh'), 'true\n');
    const upload = ['submit', '--json', '--upload', project, '--cpu-only', 'sh', 'train.sh'];
    const { stdout, stderr, status } = await runHere(upload, env);
    expect(status, stderr).to.equal(0);
    const job = JSON.parse(stdout) as Job;
    expect(job.snapshot).to.match(/^[0-9a-f]{64}$/);
    expect(await resubmit(job.id)).to.include({ snapshot: job.snapshot, working_dir: null });
  });

  it('stays in the project and the experiment of the job, whatever they are called by now', async () => {
    const job = await rig.submit({ project: 'before', experiment: 'first' });
    await rig.patch(`/projects/${job.project_id}`, { name: 'after' });
    await rig.patch(`/experiments/${job.experiment_id}`, { name: 'later' });
    const { project_id, experiment_id } = job;
    expect(await resubmit(job.id)).to.include({
      project_id,
      experiment_id,
      project: 'after',
      experiment: 'later',
    });
    expect((await rig.get('/projects')).body.items).to.have.length(1);
  });

  it('is one job when the answer is lost and asked for again', async () => {
    const job = await rig.submit(WHOLE);
    const lossy = loseFirstAnswer(rig.kernel.url);
    const url = await lossy.listen();
    const { status, stdout, stderr } = await runHere(['resubmit', job.id], { ...env, SVC_URL: url });
    expect(status, stderr).to.equal(0);
    expect(lossy.submits).to.equal(2);
    const { items } = (await rig.get('/jobs')).body as { items: Job[] };
    expect(items.map(({ id }) => id)).to.deep.equal([stdout.trim(), job.id]);
    lossy.close();
  });

  it('--follow follows the new job, and ends with its exit status', async () => {
    const { id } = await rig.submit(WHOLE);
    const { ended, written } = startSvc(['resubmit', '--follow', id], env);
    const { id: fresh } = await until(
      async () => (await rig.kernel.db('jobs').whereNot({ id }).first('id')) as { id: string } | undefined,
    );
    await until(() => written.stderr.includes(`${fresh} QUEUED`));
    await rig.post(`/jobs/${fresh}/cancel`);
    expect((await ended).status, written.stderr).to.equal(130);
    expect(await read(id)).to.include({ status: 'QUEUED' });
  });

  it('needs write scope, and a job', async () => {
    const { id } = await rig.submit(WHOLE);
    const refused = await runHere(['resubmit', id], { ...env, SVC_TOKEN: rig.tokens.read });
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('write');
    const unknown = await runHere(['resubmit', 'no such job'], env);
    expect(unknown).to.include({ status: 1, stderr: 'svc: no job has the name "no such job"\n' });
    expect((await rig.get('/jobs')).body.items).to.have.length(1);
  });
});

/** A proxy that passes every request on, and cuts the connection in place of the first answer to a submit. */
function loseFirstAnswer(target: string) {
  const counted = { submits: 0 };
  const server = createServer((incoming, answer) => {
    const isSubmit = incoming.method === 'POST';
    const { method, headers, url = '' } = incoming;
    const outgoing = request(new URL(url, target), { method, headers }, (answered) => {
      if (isSubmit && (counted.submits += 1) === 1) return void answer.destroy();
      answer.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  return Object.assign(counted, {
    async listen(): Promise<string> {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  });
}
