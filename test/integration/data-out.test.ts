import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { routes, type GarbageReport, type Job, type LogLine, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import type { Client } from '@svc/client';
import { findMarked } from '../support/processes.js';
import type { Program } from '../support/program.js';
import { readState } from '../support/state.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const CPU = { resources: { gpu: 0, cpu_only: true } };

describe('data out of the server and back, with the real programs', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let agent: Program;
  beforeEach(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    agent = await workplace.startAgent(server);
  });
  afterEach(() => workplace.close());

  /** Output of a command that must succeed. */
  async function svc(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await workplace.svc(args);
    expect(status, stderr).to.equal(0);
    return stdout;
  }

  async function stop(program: Program): Promise<void> {
    program.kill('SIGTERM');
    await program.ended;
  }

  /** On the port that the agent knows. */
  async function startAgain(): Promise<void> {
    server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
  }

  async function runWithPoints(client: Client, count = 100): Promise<Run> {
    const run = await client.call(routes.createRun, { body: { name: 'r' } });
    const points = Array.from({ length: count }, (_, seq) => ({
      seq,
      name: 'loss',
      step: seq,
      value: 1 / seq,
    }));
    const body = {
      points: points.map((point) => ({ ...point, value: point.seq === 0 ? ('NaN' as const) : point.value })),
    };
    await client.call(routes.writePoints, { params: { run_id: run.id }, body });
    return run;
  }

  async function linesOf(client: Client, job: Job): Promise<string[]> {
    const { lines } = await client.call(routes.tailLogs, {
      params: { job_id: job.id },
      query: { tail: 2000 },
    });
    return lines.map(({ text }: LogLine) => text);
  }

  it('svc export writes a file whole, in the form of its name, or to standard output', async () => {
    const run = await runWithPoints(server.client);
    const file = path.join(workplace.dir, 'run.parquet');
    await svc('export', run.id, '-o', file);
    const bytes = readFileSync(file);
    const rows = await parquetReadObjects({
      file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    });
    expect(rows.map(({ value }) => value as number)).to.deep.equal([
      NaN,
      ...Array.from({ length: 99 }, (_, index) => 1 / (index + 1)),
    ]);
    const csv = await svc('export', run.id, '--names', 'loss');
    expect(csv.split('\n').slice(0, 2)).to.deep.equal([
      'name,step,epoch,value,ts,seq',
      csv.split('\n')[1] ?? '',
    ]);
    expect(csv.split('\n')).to.have.length(102);
    const { status, stderr } = await workplace.svc([
      'export',
      'run_01HZZZZZZZZZZZZZZZZZZZZZZZ',
      '-o',
      `${file}.none.csv`,
    ]);
    expect(status).to.equal(1);
    expect(stderr).to.contain('no run');
    expect(existsSync(`${file}.none.csv`)).to.equal(false);
    const sheet = await workplace.svc(['export', run.id, '-o', `${file}.xlsx`]);
    expect(sheet.status).to.equal(2);
    expect(sheet.stderr).to.contain('.xlsx is no format of an export').and.contain('.parquet');
    const misspelt = await workplace.svc(['export', run.id, '--names', 'los']);
    expect(misspelt.stderr).to.contain('the run has no metric los; it has loss');
    const nowhere = await workplace.svc(['export', run.id, '-o', `${file}/x.csv`]);
    expect(nowhere.stderr).to.equal(`svc: cannot write ${file}/x.csv: ENOTDIR: not a directory\n`);
  });

  it('everything of a backup is there after its restore, and what runs is taken up again', async () => {
    const gate = path.join(workplace.dir, 'gate');
    const wait = (name: string) => [
      'sh',
      '-c',
      `echo start; while [ ! -e ${gate}-${name} ]; do sleep 0.1; done; echo end`,
    ];
    const ended = await submit(server.client, { command: ['seq', '300'], ...CPU });
    await untilJob(server.client, ended.id, ({ status }) => status === 'SUCCEEDED');
    const running = await submit(server.client, { command: wait('running'), ...CPU });
    await until(async () => (await linesOf(server.client, running)).includes('start'));
    await runWithPoints(server.client);
    await until(async () => (await linesOf(server.client, ended)).length === 300);

    const { path: backup } = JSON.parse(await svc('backup', '--json')) as { path: string };
    const before = await readState(server.client);
    const since = await submit(server.client, { command: wait('since'), ...CPU });
    await untilJob(server.client, since.id, ({ status }) => status === 'RUNNING');
    await runWithPoints(server.client);

    const refused = await workplace.svc(['restore', backup]);
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('a server is running on the data directory');
    await stop(agent);
    await stop(server);
    expect(findMarked('SVC_JOB_ID', since.id)).not.to.deep.equal([]);
    expect(await svc('restore', path.dirname(backup))).to.match(
      /the previous database is kept as .*svc\.db\.before-restore-/,
    );

    await startAgain();
    const withoutNodes = (state: unknown) => ({ ...(state as object), nodes: null });
    expect(withoutNodes(await readState(server.client))).to.deep.equal(withoutNodes(before));

    agent = workplace.start(['agent', '--state-dir', path.join(workplace.dir, 'agent')], {
      SVC_URL: server.url,
      SVC_TOKEN: readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim(),
    });
    await until(() => /attempt|connected/.test(agent.stderr));
    writeFileSync(`${gate}-running`, '');
    await untilJob(server.client, running.id, ({ status }) => status === 'SUCCEEDED');
    await until(async () => (await linesOf(server.client, running)).at(-1) === 'end');
    expect(await linesOf(server.client, running)).to.deep.equal(['start', 'end']);
    expect(await linesOf(server.client, ended)).to.have.length(300);
    // What the restored server does not know has no process any more.
    await until(() => findMarked('SVC_JOB_ID', since.id).length === 0);
  });

  it('backup and gc work on the data directory while no server runs', async () => {
    const job = await submit(server.client, { command: ['seq', '100'], ...CPU });
    await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED');
    await until(async () => (await linesOf(server.client, job)).length === 100);
    const plan = JSON.parse(await svc('gc', '--dry-run', '--older-than', '0s', '--json')) as GarbageReport;
    expect(plan.totals).to.include({ jobs: 1, runs: 1, log_files: 1 });
    expect(await svc('gc', '--dry-run', '--older-than', '0s')).to.match(/would be removed: 1 jobs, 1 runs/);
    const unsure = await workplace.svc(['gc', '--older-than', '0s']);
    expect(unsure.status).to.equal(2);
    expect(unsure.stderr).to.contain('--dry-run').and.contain('--yes');
    await stop(agent);
    await stop(server);

    const { path: backup } = JSON.parse(await svc('backup', '--json')) as { path: string };
    expect(existsSync(path.join(path.dirname(backup), 'logs', job.id))).to.equal(true);
    expect(JSON.parse(await svc('gc', '--dry-run', '--older-than', '0s', '--json'))).to.deep.include({
      totals: plan.totals,
    });
    expect(await svc('gc', '--older-than', '0s', '--yes')).to.match(/removed: 1 jobs, 1 runs/);
    expect(existsSync(path.join(workplace.dataDir, 'logs', job.id))).to.equal(false);
    expect(await svc('gc', '--older-than', '0s', '--yes')).to.contain('nothing is old enough');

    await svc('restore', backup);
    await startAgain();
    expect((await server.client.call(routes.getJob, { params: { job_id: job.id } })).status).to.equal(
      'SUCCEEDED',
    );
    expect(await linesOf(server.client, job)).to.have.length(100);
  });
});
