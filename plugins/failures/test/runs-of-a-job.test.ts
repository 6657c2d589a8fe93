import type { FailureExplanation, Job } from '@svc/contract';
import { eachDatabase, until, type TestDatabase } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { shipper } from '../../logs/test/support/shipper.js';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { failures } from '../src/index.js';

eachDatabase((database: TestDatabase) => {
  describe('failure explanation: the runs of a job', function () {
    this.timeout(30_000);
    let rig: Rig;
    let agent: JobAgent;
    before(async () => {
      rig = await Rig.start({ database, plugins: [logs(), metrics(), failures()] });
      agent = await rig.agent();
    });
    after(() => rig?.close());

    const explain = async (path: string) => (await rig.get(path)).body as FailureExplanation;

    async function start(): Promise<Job> {
      const { id } = await rig.submit({ command: ['python3', 'train.py'] });
      await agent.startJob(id);
      return until(async () => {
        const job = await rig.reach(id, 'RUNNING');
        return job.run_id === null ? null : job;
      }) as Promise<Job>;
    }

    async function end({ id }: Job, lines: readonly string[], code: number): Promise<void> {
      const ship = shipper(agent, id);
      if (lines.length > 0) await ship.lines('stderr', [...lines]);
      await ship.end();
      agent.end(id, code < 0 ? { kind: 'signaled', signal: 'SIGSEGV', code } : { kind: 'exited', code });
      await rig.reach(id, code === 0 ? 'SUCCEEDED' : 'FAILED');
    }

    async function reportNan(run_id: string): Promise<void> {
      const points = [{ seq: 1, step: 7, name: 'train/loss', value: 'NaN' }];
      expect((await rig.post(`/runs/${run_id}/metrics:batch`, { points }, rig.tokens.sdk)).status).to.equal(
        200,
      );
    }

    const isNan = (explained: FailureExplanation, { id, command }: Job, run_id: string) => {
      expect(explained, explained.summary).to.include({
        run_id,
        job_id: id,
        status: 'FAILED',
        rule: 'nan-loss',
      });
      expect(explained.evidence[0]).to.deep.equal({ metric: 'train/loss', step: 7, value: 'NaN' });
      const [first] = explained.next_actions;
      expect(first).to.deep.include({ tool: 'submit_job', args: { command, cpu_only: true } });
      expect(first?.reason).to.match(/unchanged fails identically/);
      expect(explained.next_actions.map(({ tool }) => tool)).not.to.include('retry_job');
    };

    it('rule 7: a run that reports FAILED after a NaN, of a job that then exits with 0: the first action is submit_job', async () => {
      const job = await start();
      await reportNan(job.run_id!);
      await rig.post(`/runs/${job.run_id}/finish`, { status: 'FAILED' }, rig.tokens.sdk);
      isNan(await explain(`/runs/${job.run_id}/failure`), job, job.run_id!);
      await end(job, [], 0);
      isNan(await explain(`/runs/${job.run_id}/failure`), job, job.run_id!);
      expect((await explain(`/jobs/${job.id}/failure`)).summary).to.equal('It did not fail: it succeeded.');
    });

    it('rule 7: a further run of the same process is explained by its own metrics', async () => {
      const job = await start();
      const second = await rig.createRun({ job_id: job.id, name: 'second' });
      await reportNan(second.id);
      await end(job, ['stopped'], 1);
      isNan(await explain(`/runs/${second.id}/failure`), job, second.id);
      expect(await explain(`/runs/${job.run_id}/failure`)).to.include({ run_id: job.run_id, rule: null });
    });

    it('says that the run reported its failure when no rule matched and the process exited with 0', async () => {
      const job = await start();
      await rig.post(`/runs/${job.run_id}/finish`, { status: 'FAILED' }, rig.tokens.sdk);
      await end(job, ['all is well'], 0);
      const { summary, rule } = await explain(`/runs/${job.run_id}/failure`);
      expect(rule).to.equal(null);
      expect(summary).to.match(/^No rule matched\. The run reported that it failed\./);
    });

    it('rule 7: scans the log and the events for patterns, and uses the exit code', async () => {
      const inLog = await start();
      await end(inLog, ['torch.distributed.DistBackendError: NCCL error in: x.cpp:1'], 1);
      expect((await explain(`/runs/${inLog.run_id}/failure`)).rule).to.equal('nccl-abort');

      const inEvents = await start();
      const event = { title: 'Stopped', message: 'DataLoader worker (pid 7) is killed by signal: Killed.' };
      const body = { ...event, severity: 'critical' };
      await rig.post(`/runs/${inEvents.run_id}/events`, body, rig.tokens.sdk);
      await end(inEvents, ['stopped'], 1);
      const told = await explain(`/runs/${inEvents.run_id}/failure`);
      expect(told.rule).to.equal('dataloader-worker-killed');
      expect(told.evidence[0]).to.have.property('event_id');

      const atExit = await start();
      await end(atExit, [], -11);
      const crashed = await explain(`/runs/${atExit.run_id}/failure`);
      expect(crashed).to.include({ rule: 'segmentation-fault', exit_code: -11 });
      expect(crashed.evidence).to.deep.include({ field: 'exit_code', value: '-11' });
    });

    it('rule 8: carries likely cause, evidence, suggested fixes and next_actions, of every kind of answer', async () => {
      const job = await start();
      const isWhole = (explained: FailureExplanation) =>
        expect(explained).to.include.keys('likely_cause', 'evidence', 'suggested_fixes', 'next_actions');
      isWhole(await explain(`/runs/${job.run_id}/failure`));
      await end(job, ['odd'], 1);
      for (const path of [`/runs/${job.run_id}/failure`, `/jobs/${job.id}/failure`]) {
        const explained = await explain(path);
        isWhole(explained);
        expect(explained.next_actions.map(({ tool }) => tool)).to.deep.equal(['tail_logs']);
      }
      const { id } = await rig.createRun();
      isWhole(await explain(`/runs/${id}/failure`));
    });

    it('the metrics of a run are worth a look only if it has points', async () => {
      const job = await start();
      await end(job, ['odd'], 1);
      const { id } = await rig.createRun();
      const fail = await rig.post(`/runs/${id}/finish`, { status: 'FAILED' }, rig.tokens.write);
      expect(fail.status).to.equal(200);
      const toolsOf = async (path: string) => (await explain(path)).next_actions.map(({ tool }) => tool);
      const paths = [`/runs/${job.run_id}/failure`, `/jobs/${job.id}/failure`, `/runs/${id}/failure`];
      for (const path of paths) expect(await toolsOf(path), path).not.to.include('diagnose_run');
      for (const run_id of [job.run_id, id]) {
        const points = [{ seq: 1, step: 7, name: 'train/loss', value: 0.5 }];
        const { status } = await rig.post(`/runs/${run_id}/metrics:batch`, { points }, rig.tokens.sdk);
        expect(status).to.equal(200);
      }
      for (const path of paths) expect(await toolsOf(path), path).to.include('diagnose_run');
    });

    it('every rule that explains failures is in docs/failures.md', () => {
      const page = readFileSync(new URL('../../../docs/failures.md', import.meta.url), 'utf8');
      const described = [...page.matchAll(/^## ([\w-]+)$/gm)].map(([, name]) => name);
      const registered = [...rig.kernel.ctx.registered.semanticRules.values()].map(({ name }) => name);
      expect(described).to.have.members(registered);
    });
  });
});
