import { routes, type Diagnosis, type FailureExplanation, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const OUT_OF_MEMORY = `import resource, torch
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
weights = [torch.zeros(1 << 28) for _ in range(64)]`;

const NAN = `import torch, svc
run = svc.init()
weight = torch.tensor([1.0], requires_grad=True)
for step in range(400):
    loss = (weight ** 4).sum()
    loss.backward()
    with torch.no_grad():
        weight -= 10 * weight.grad
        weight.grad.zero_()
    run.log({"train/loss": loss.item()}, step=step)
    if torch.isnan(loss):
        raise RuntimeError(f"stopped at step {step}")`;

/** It goes on after the NaN, as a training does that does not look at its loss. */
const ENDLESS_NAN = NAN.replace(
  'raise RuntimeError(f"stopped at step {step}")',
  'import time; time.sleep(0.1)',
);

describe('a job that fails is explained, end to end', function () {
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

  async function explainFailed(
    command: readonly string[],
  ): Promise<{ job: Job; explained: FailureExplanation }> {
    const { id } = await submit(server.client, { command: [...command], resources: { cpu_only: true } });
    const job = await untilJob(server.client, id, ({ status }) => status === 'FAILED');
    const params = { run_id: job.run_id ?? '' };
    const explained = await server.client.call(routes.explainRunFailure, { params, query: {} });
    const { next_actions, last_errors, summary } = await diagnose(job);
    expect(next_actions.slice(0, explained.next_actions.length), 'diagnosed alike').to.deep.equal(
      explained.next_actions,
    );
    expect(last_errors.at(-1)).to.deep.equal(explained.last_errors.at(-1));
    expect(summary).to.include(explained.summary);
    return { job, explained };
  }

  function diagnose({ run_id }: Job): Promise<Diagnosis> {
    return server.client.call(routes.diagnoseRun, { params: { run_id: run_id ?? '' } });
  }

  it('a PyTorch training that runs out of memory, under a limit', async () => {
    const { job, explained } = await explainFailed([python, '-c', OUT_OF_MEMORY]);
    expect(explained.rule, explained.summary).to.equal('host-out-of-memory');
    const [first] = explained.next_actions;
    expect(first?.tool).to.equal('submit_job');
    expect(first?.args).to.deep.equal({ command: job.command, cpu_only: true });
    expect(first?.reason).to.match(/unchanged fails identically/);
    expect(explained.next_actions.map(({ tool }) => tool)).not.to.include('retry_job');
  });

  it('a PyTorch training whose loss becomes NaN', async () => {
    const { explained } = await explainFailed([python, '-c', NAN]);
    expect(explained.rule, explained.summary).to.equal('nan-loss');
    expect(explained.evidence[0]).to.include({ metric: 'train/loss', value: 'NaN' });
    expect(explained.next_actions[0]?.tool).to.equal('submit_job');
    expect(explained.next_actions.map(({ tool }) => tool)).not.to.include('retry_job');
  });

  it('a PyTorch training that goes on with a NaN loss, as its diagnosis and svc diagnose show it', async () => {
    const { id } = await submit(server.client, {
      command: [python, '-c', ENDLESS_NAN],
      resources: { cpu_only: true },
    });
    const job = await untilJob(server.client, id, ({ status }) => status === 'RUNNING');
    const isNan = ({ anomalies }: Diagnosis) => anomalies.some(({ kind }) => kind === 'nan');
    await until(async () => isNan(await diagnose(job)), { timeoutMs: 60_000 });
    const { anomalies, health, convergence, next_actions } = await diagnose(job);
    expect(anomalies[0]).to.include({ kind: 'nan', severity: 'critical' });
    expect(anomalies[0]?.evidence[0]).to.deep.include({ metric: 'train/loss', value: 'NaN' });
    expect(anomalies[0]?.fixes.join()).to.include('learning rate');
    expect(health.status).to.equal('critical');
    expect(convergence).to.include({ metric: 'train/loss', latest: 'NaN' });
    expect(next_actions.slice(0, 2).map(({ tool }) => tool)).to.deep.equal(['submit_job', 'cancel_job']);
    expect(next_actions[0]?.args).to.deep.equal({ command: job.command, cpu_only: true });
    expect(next_actions.map(({ tool }) => tool)).not.to.include('retry_job');
    const shown = await workplace.svc(['diagnose', job.run_id ?? '']);
    expect(shown.status, shown.stderr).to.equal(0);
    expect(shown.stdout).to.match(/Needs attention\n {2}critical {2}train\/loss is NaN from step \d+ on/);
    expect(shown.stdout).to.include(`svc cancel ${job.id}`);
    expect(JSON.parse((await workplace.svc(['diagnose', '--json'])).stdout)).to.include({
      run_id: job.run_id,
      status: 'RUNNING',
    });
    expect((await workplace.svc(['diagnose', 'no-such-run'])).status).to.equal(1);
    await server.client.call(routes.cancelJob, { params: { job_id: id } });
    await untilJob(server.client, id, ({ status }) => status === 'CANCELLED');
  });

  it('a training with a missing module, as svc explain shows it', async () => {
    const { job, explained } = await explainFailed([python, '-c', 'import torch\nimport no_such_module']);
    expect(explained.rule).to.equal('missing-module');
    const shown = await workplace.svc(['explain', job.id]);
    expect(shown.status, shown.stderr).to.equal(0);
    expect(shown.stdout).to.include('has no module `no_such_module`');
    expect(shown.stdout).to.include('What to change');
    expect(shown.stdout).to.include(`svc retry ${job.id}`);
    const ofRun = await workplace.svc(['explain', job.run_id ?? '', '--json']);
    expect(JSON.parse(ofRun.stdout)).to.deep.equal(explained);
    expect((await workplace.svc(['explain', 'no-such-job'])).status).to.equal(1);
  });

  it('a training that a signal killed', async () => {
    const { explained } = await explainFailed([python, '-c', 'import os, torch\nos.kill(os.getpid(), 15)']);
    expect(explained.rule).to.equal('terminated');
    expect(explained.exit_code).to.equal(-15);
    expect(explained.next_actions[0]?.tool).to.equal('retry_job');
  });
});
