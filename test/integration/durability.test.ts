import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const JOB = { command: ['true'], resources: { gpu: 0 } };

/** What is acknowledged survives a loss of power: seen from outside, by the syncs of the real server. */
describe('durability', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let trace: string;
  let strace: string;

  before(async function () {
    strace = requireEngine(this, 'strace');
    workplace = createWorkplace();
    trace = path.join(workplace.dir, 'trace');
    server = await workplace.startServer({ under: tracer(trace) });
  });
  after(() => workplace?.close());

  // -D: the traced program is our own child, and the tracer ends with it.
  const tracer = (file: string) => [
    strace,
    '-D',
    '-f',
    '-qq',
    '-y',
    '-e',
    'trace=fsync,fdatasync',
    '-o',
    file,
  ];
  /** How often a file whose path ends so has been synced. */
  const syncsOf = (ending: string, file = trace): number =>
    readFileSync(file, 'utf8').match(new RegExp(`f(data)?sync\\(\\d+<[^>]*${ending}>`, 'g'))?.length ?? 0;

  describe('has synced the database when it answers', () => {
    let job: Job;
    let run: { id: string; ingest_token: string };
    let token: { id: string };
    const call = <R extends Parameters<Server['client']['call']>[0]>(route: R, options: object) =>
      server.client.call(route, options as never) as Promise<unknown>;
    const points = (seq: number) => ({ points: [{ seq, name: 'loss', step: seq, value: 1 }] });
    const deeds: [string, () => Promise<unknown>][] = [
      ['a submit', async () => (job = await submit(server.client, JOB))],
      ['a cancel', () => call(routes.cancelJob, { params: { job_id: job.id } })],
      ['a retry', () => call(routes.retryJob, { params: { job_id: job.id } })],
      [
        'a token',
        async () =>
          (token = (await call(routes.createToken, { body: { name: 'x', scope: 'read' } })) as typeof token),
      ],
      ['a revocation', () => call(routes.revokeToken, { params: { token_id: token.id } })],
      ['a run', async () => (run = (await call(routes.createRun, { body: {} })) as typeof run)],
      ['points', () => call(routes.writePoints, { params: { run_id: run.id }, body: points(0) })],
      ['an event', () => call(routes.createEvent, { params: { run_id: run.id }, body: { title: 'x' } })],
      [
        'a checkpoint',
        () => call(routes.createCheckpoint, { params: { run_id: run.id }, body: { path: '/x' } }),
      ],
      ['notes', () => call(routes.updateRun, { params: { run_id: run.id }, body: { notes: 'x' } })],
      [
        'the end of a run',
        () => call(routes.finishRun, { params: { run_id: run.id }, body: { status: 'FAILED' } }),
      ],
      ['a project', () => call(routes.createProject, { body: { name: 'x' } })],
    ];
    for (const [what, act] of deeds) {
      it(`to ${what}`, async () => {
        const before = syncsOf('svc\\.db-wal');
        await act();
        expect(syncsOf('svc\\.db-wal')).to.be.above(before);
      });
    }
  });

  it('has synced the first token, and its name', () => {
    expect(syncsOf('token\\.\\d+\\.tmp')).to.equal(1);
    expect(syncsOf(path.basename(workplace.dataDir))).to.be.at.least(1);
  });

  it('has synced a backup, and the name of its folder', async () => {
    const { path: file } = await server.client.call(routes.createBackup);
    expect(syncsOf('\\.partial/svc\\.db')).to.be.at.least(1);
    expect(syncsOf('\\.partial')).to.be.at.least(1);
    expect(syncsOf('backups')).to.be.at.least(1);
    expect(readFileSync(file).length).to.be.above(0);
  });

  it('has synced a restored database, and its name', async () => {
    const { path: file } = await server.client.call(routes.createBackup);
    const [dataDir, restoreTrace] = ['elsewhere', 'restore-trace'].map((name) =>
      path.join(workplace.dir, name),
    );
    const args = ['restore', path.dirname(file), '--data-dir', dataDir as string];
    const { status, stderr } = await workplace.start(args, {}, tracer(restoreTrace as string)).ended;
    expect(status, stderr).to.equal(0);
    expect(syncsOf('svc\\.db\\.restore/svc\\.db', restoreTrace)).to.be.at.least(1);
    expect(syncsOf('/elsewhere', restoreTrace)).to.be.at.least(1);
  });

  it('has synced the log of an attempt, and its name, when its agent may let go of it', async () => {
    const agent = await workplace.startAgent(server);
    const { id } = await submit(server.client, {
      command: ['sh', '-c', 'echo one; sleep 0.2; echo two'],
      resources: { gpu: 0 },
    });
    await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
    const forgotten = path.join(workplace.dir, 'agent', 'jobs', id, 'attempt-1', 'forgotten.json');
    await until(() => readFileSync(forgotten, 'utf8') !== '', { timeoutMs: 30_000 });
    expect(syncsOf(`${id}/attempt-1\\.ndjson`)).to.be.at.least(2);
    expect(syncsOf(`logs/${id}`)).to.be.at.least(1);
    expect(syncsOf('/logs')).to.be.at.least(1);
    agent.kill();
    await agent.ended;
  });
});
