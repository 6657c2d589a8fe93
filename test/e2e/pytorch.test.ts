import path from 'node:path';
import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { findMarked } from '../support/processes.js';
import { ROOT, type Program } from '../support/program.js';
import { createWorkplace, untilJob, type Server, type Workplace } from '../support/workplace.js';

const SCRIPT = path.join(ROOT, 'test', 'fixtures', 'torch-train.py');
const START_PATIENCE_MS = 60_000;

describe('a real PyTorch training under svc submit --follow', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let python: string;
  before(async function () {
    python = requireEngine(this, 'torch');
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
  });
  after(() => workplace?.close());

  function follow(steps: number): Program {
    return workplace.start(['submit', '--cpu-only', '--follow', '--', python, SCRIPT, String(steps)]);
  }

  async function readLosses(runId: string): Promise<number[]> {
    const { series } = await server.client.call(routes.readSeries, {
      params: { run_id: runId },
      query: { limit: 10_000 },
    });
    return (series['train/loss']?.values ?? []).map(Number);
  }

  /** The job once its training has printed a first loss. */
  async function untilTraining(follower: Program): Promise<Job> {
    await until(() => /^step \d+ loss/m.test(follower.stdout), { timeoutMs: START_PATIENCE_MS });
    const id = /^(job_\w+)/.exec(follower.stderr)?.[1] ?? '';
    return untilJob(server.client, id, ({ status }) => status === 'RUNNING');
  }

  it('shows its losses live and finishes SUCCEEDED', async () => {
    const follower = follow(4_000);
    const { id, run_id } = await untilTraining(follower);
    const early = await until(async () => {
      const losses = await readLosses(run_id ?? '');
      return losses.length > 0 ? losses : null;
    });
    const { status } = await server.client.call(routes.getJob, { params: { job_id: id } });
    expect(status, 'the losses came while it ran').to.equal('RUNNING');

    const ended = await follower.ended;
    expect(ended.status, ended.stderr).to.equal(0);
    expect(ended.stderr).to.match(/SUCCEEDED/);
    const all = await readLosses(run_id ?? '');
    expect(all).to.have.length(4_000);
    expect(all.slice(0, early?.length)).to.deep.equal(early);
    expect(all.at(-1)).to.be.lessThan((all[0] ?? 0) / 100);
    const run = await server.client.call(routes.getRun, { params: { run_id: run_id ?? '' } });
    expect(run).to.deep.include({ status: 'SUCCEEDED', step: 4_000, max_steps: 4_000 });
    const { anomalies, convergence } = await server.client.call(routes.diagnoseRun, {
      params: { run_id: run.id },
    });
    expect(anomalies, 'of a training that goes well').to.deep.equal([]);
    expect(convergence).to.include({ metric: 'train/loss', best: Math.min(...all) });
  });

  it('cancelled, it is CANCELLED with exit code -15, and nothing of its process group is left', async () => {
    const follower = follow(100_000_000);
    const { id } = await untilTraining(follower);
    expect(findMarked('SVC_JOB_ID', id)).to.not.deep.equal([]);
    const { status } = await workplace.svc(['cancel', id]);
    expect(status).to.equal(0);
    const ended = await follower.ended;
    expect(ended.status).to.equal(143);
    const job = await untilJob(server.client, id, () => true);
    expect(job).to.deep.include({ status: 'CANCELLED', exit_code: -15 });
    expect(findMarked('SVC_JOB_ID', id)).to.deep.equal([]);
    const run = await server.client.call(routes.getRun, { params: { run_id: job.run_id ?? '' } });
    expect(run.status).to.equal('CANCELLED');
  });
});
