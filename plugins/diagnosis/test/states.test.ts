import type { Diagnosis, Job } from '@svc/contract';
import { eachDatabase, until, type TestDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { shipper } from '../../logs/test/support/shipper.js';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { falling, Lab } from './support/lab.js';

const toolsOf = ({ next_actions }: Diagnosis) => next_actions.map(({ tool }) => tool);

eachDatabase((database: TestDatabase) => {
  describe('diagnosis: in every state of a run', function () {
    this.timeout(30_000);
    let lab: Lab;
    let agent: JobAgent;
    before(async () => {
      lab = await Lab.open(database);
      agent = await lab.rig.agent();
    });
    after(() => lab?.close());

    /** A job whose attempt runs. */
    async function start(body: object = {}, attempt = 1): Promise<Job & { run_id: string }> {
      const job = await lab.rig.submit({ node_selector: { node: agent.nodeId }, ...body });
      return started(job.id, attempt);
    }
    async function started(id: string, attempt: number): Promise<Job & { run_id: string }> {
      await agent.startJob(id, attempt);
      return (await lab.rig.reach(id, 'RUNNING')) as Job & { run_id: string };
    }
    async function fail(job: Job, line: string, attempt = 1): Promise<void> {
      const ship = shipper(agent, job.id, attempt);
      await ship.lines('stderr', [line]);
      await ship.end();
      agent.end(job.id, { kind: 'exited', code: 1 }, attempt);
      await lab.rig.reach(job.id, 'FAILED');
    }
    const diagnose = (run_id: string) => lab.diagnose({ id: run_id });

    it('the endpoint has progress, convergence, anomalies, health warnings and next actions', async () => {
      const found = await lab.diagnose(await lab.runWith({ loss: falling(64) }));
      expect(found).to.include.all.keys(
        ...['progress', 'convergence', 'anomalies', 'health_warnings', 'next_actions'],
        ...['throughput', 'gpu', 'last_point_at', 'last_errors'],
      );
    });

    it('progress: step, max_steps, rate, and the time left with its spread', async () => {
      const run = await lab.runWith({ 'train/loss': falling(101) }, { max_steps: 200 });
      const { progress, throughput, since_last_point_s, summary } = await lab.diagnose(run);
      expect(progress).to.deep.equal({
        step: 100,
        max_steps: 200,
        epoch: null,
        fraction: 0.5,
        steps_per_s: 1,
        time_left: { likely_s: 100, least_s: 100, most_s: 100 },
      });
      expect(throughput).to.deep.equal({
        metric: 'train/loss',
        from_step: 37,
        steps_per_s: 1,
        before_steps_per_s: 1,
        change: 0,
      });
      expect(since_last_point_s).to.be.within(0, 10);
      expect(summary).to.equal(
        'The run is running at step 100 of 200. train/loss improves: it is 0.090909, best 0.090909 at step 100. Nothing is wrong.',
      );
    });

    it('a run that became slow is told, with the step; a pause alone is not', async () => {
      const now = Date.now();
      const slow = await lab.rig.createRun();
      await lab.log(slow, { lr: falling(200) }, { until: now - 640_000 });
      await lab.log(slow, { lr: falling(64) }, { firstStep: 200, everyMs: 10_000, until: now });
      const { anomalies, throughput } = await lab.diagnose(slow);
      expect(throughput?.change).to.be.closeTo(-0.9, 0.01);
      expect(anomalies).to.have.length(1);
      expect(anomalies[0]).to.include({ kind: 'slow', severity: 'warning' });
      expect(anomalies[0]?.evidence).to.deep.equal([{ metric: 'lr', step: 200, value: 1 }]);
      const paused = await lab.rig.createRun();
      await lab.log(paused, { lr: falling(200) }, { until: now - 900_000 });
      await lab.log(paused, { lr: falling(32) }, { firstStep: 200, until: now });
      expect((await lab.diagnose(paused)).anomalies).to.deep.equal([]);
    });

    it('a run without points, and one that is not there', async () => {
      const found = await lab.diagnose(await lab.rig.createRun({ max_steps: 10 }));
      expect(found).to.deep.include({
        throughput: null,
        gpu: null,
        last_point_at: null,
        since_last_point_s: null,
        anomalies: [],
        health_warnings: [],
        last_errors: [],
        next_actions: [],
        summary: 'The run is running and has no points.',
      });
      expect(found.progress).to.include({ step: null, steps_per_s: null, time_left: null });
      for (const id of ['run_01HZZZZZZZZZZZZZZZZZZZZZZZ', 'nothing'])
        expect((await lab.rig.get(`/runs/${id}/diagnosis`)).status).to.equal(404);
    });

    it('a job that runs and has logged no point: its log is what to look at', async () => {
      const job = await start();
      const found = await diagnose(job.run_id);
      expect(found.next_actions[0]).to.deep.include({
        tool: 'tail_logs',
        args: { job_id: job.id, attempt: 1, tail: 200 },
      });
    });

    it('steps that went back: no pace is made up from points that are old', async () => {
      const run = await lab.rig.createRun({ max_steps: 300 });
      const now = Date.now();
      await lab.log(run, { loss: falling(200) }, { until: now - 100_000 });
      await lab.log(run, { loss: falling(50) }, { until: now });
      const { progress, throughput } = await lab.diagnose(run);
      expect(progress).to.deep.include({ step: 199, steps_per_s: null, time_left: null });
      expect(throughput).to.equal(null);
    });

    it('a restart that has come as far again has the pace since then', async () => {
      const run = await lab.rig.createRun({ max_steps: 100 });
      const now = Date.now();
      await lab.log(run, { loss: falling(60) }, { everyMs: 4_000, until: now - 100_000 });
      await lab.log(run, { loss: falling(21) }, { firstStep: 40, everyMs: 1_000, until: now });
      const { progress } = await lab.diagnose(run);
      expect(progress.steps_per_s).to.equal(1);
      expect(progress.time_left?.likely_s).to.equal(40);
    });

    it('a finished one: no time is left, and its best checkpoint is what it has made', async () => {
      const run = await lab.runWith({ loss: falling(64) }, { max_steps: 64 });
      await lab.checkpoint(run, 60);
      await lab.must('POST', `/runs/${run.id}/finish`, { status: 'SUCCEEDED' });
      const found = await lab.diagnose(run);
      expect(found).to.deep.include({ status: 'SUCCEEDED', anomalies: [] });
      expect(found.summary).to.match(
        /^The run has succeeded; its last step is 63 of 64\. .* Nothing is wrong\.$/,
      );
      expect(found.progress.time_left).to.equal(null);
      const [first] = found.next_actions;
      expect(first).to.deep.include({
        tool: 'get_best_checkpoint',
        args: { run_id: run.id, metric: 'loss' },
      });
    });

    it('a failed one has the actions of the explanation of its failure, which comes next', async () => {
      const job = await start();
      await fail(job, "ModuleNotFoundError: No module named 'apex'");
      const found = await diagnose(job.run_id);
      const explained = (await lab.rig.get(`/runs/${job.run_id}/failure`)).body;
      expect(found.summary, 'without points, nothing is said of metrics').to.equal(
        `The run has failed and has no points. ${explained.summary}`,
      );
      for (const { reason } of found.next_actions) expect(reason, 'has a subject').not.to.match(/^It\b/);
      const own = found.next_actions.slice(0, explained.next_actions.length);
      expect(own).to.deep.equal(explained.next_actions);
      expect(toolsOf(found)).to.include('explain_failure');
      expect(found.last_errors.map(({ seq, text }) => [seq, text])).to.deep.equal([
        [0, "ModuleNotFoundError: No module named 'apex'"],
      ]);
    });

    it('rule 7: after an out-of-memory error the first action is submit_job with the original command, and none is retry_job', async () => {
      const job = await start({ command: ['python3', 'train.py', '--batch', '512'] });
      agent.end(job.id, { kind: 'oom', code: 1, evidence: 'MemoryError' });
      await lab.rig.reach(job.id, 'FAILED');
      expectResubmit(await diagnose(job.run_id), job);
    });

    it('rule 7: the same after a NaN loss, and while the run goes on it is to be cancelled', async () => {
      const job = await start({ command: ['python3', 'train.py', '--lr', '3'] });
      await lab.log({ id: job.run_id }, { 'train/loss': [1, 2, 'NaN', 'NaN'] });
      const running = await diagnose(job.run_id);
      expectResubmit(running, job);
      expect(running.next_actions[1]).to.deep.include({
        tool: 'cancel_job',
        args: { job_id: job.id, confirm: true },
      });
      await fail(job, 'RuntimeError: stopped');
      expectResubmit(await diagnose(job.run_id), job);
    });

    function expectResubmit(found: Diagnosis, { command }: Job): void {
      const [first] = found.next_actions;
      expect(first).to.deep.include({ tool: 'submit_job', args: { command, cpu_only: true } });
      expect(first?.reason).to.match(/^Re-running unchanged fails identically/);
      expect(toolsOf(found)).not.to.include('retry_job');
    }

    it('several attempts: each run has its own log, and the one before names the one after', async () => {
      const job = await start();
      await fail(job, 'OSError: [Errno 28] No space left on device');
      await lab.must('POST', `/jobs/${job.id}/retry`);
      const queued = await diagnose(job.run_id);
      expect(queued.next_actions.find(({ tool }) => tool === 'get_job')?.args).to.deep.equal({
        job_id: job.id,
      });
      const second = await started(job.id, 2);
      const before = await diagnose(job.run_id);
      expect(before).to.include({ status: 'FAILED', attempt: 1 });
      expect(before.last_errors).to.have.length(1);
      expect(before.next_actions.find(({ tool }) => tool === 'diagnose_run')?.args).to.deep.equal({
        run_id: second.run_id,
      });
      const after = await diagnose(second.run_id);
      expect(after).to.deep.include({ status: 'RUNNING', attempt: 2, last_errors: [] });
      expect(toolsOf(after)).not.to.include('diagnose_run');
    });

    it('a LOST one, with its node gone', async () => {
      const lost = await lab.rig.agent();
      const { id } = await lab.rig.submit({ node_selector: { node: lost.nodeId } });
      await lost.startJob(id);
      const { run_id } = await lab.rig.reach(id, 'RUNNING');
      lost.ended({ job_id: id, attempt: 1 }, { kind: 'lost', reason: 'the process is gone' }, {});
      await lab.rig.reach(id, 'LOST');
      const found = await diagnose(run_id as string);
      expect(found.status).to.equal('LOST');
      expect(toolsOf(found)).to.include.members(['explain_failure']);
    });

    it('a deleted one is not found', async () => {
      const run = await lab.runWith({ loss: [1] });
      await lab.must('POST', `/runs/${run.id}/finish`, { status: 'SUCCEEDED' });
      await lab.must('DELETE', `/runs/${run.id}`);
      expect((await lab.rig.get(`/runs/${run.id}/diagnosis`)).status).to.equal(404);
    });

    it('the use of the GPU slots of its job, over the run', async () => {
      const job = await start({ resources: { gpu: 1 } });
      const [index] = job.gpu_indices as [number];
      const at = Date.now();
      const ts = [at - 600_000, at + 10, at + 20, at + 30];
      const values = {
        [`gpu.${index}.util`]: [100, 10, 20, 60],
        [`gpu.${index}.mem_used_mb`]: [0, 40, 40, 70],
      };
      agent.send({
        type: 'node_metrics',
        ts,
        processes: [],
        values: { ...values, [`gpu.${1 - index}.util`]: [99, 99, 99, 99] },
      });
      await until(async () => (await diagnose(job.run_id)).gpu !== null);
      const found = await until(async () => {
        const { gpu } = await diagnose(job.run_id);
        return gpu?.slots[0]?.memory_used_mb === 50 ? gpu : null;
      });
      expect(found).to.deep.equal({
        node_id: agent.nodeId,
        utilization_percent: 30,
        slots: [{ index, utilization_percent: 30, memory_used_mb: 50, memory_total_mb: null }],
      });
    });
  });
});
