import type { FailureExplanation } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { eachDatabase, until, type TestDatabase } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { shipper } from '../../logs/test/support/shipper.js';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { failures } from '../src/index.js';

const MISSING = [
  'Traceback (most recent call last):',
  '  File "/data/train.py", line 1, in <module>',
  '    import apex',
  "ModuleNotFoundError: No module named 'apex'",
];

/** A rule of a third party. */
const dragons = definePlugin({
  name: 'dragons',
  setup(ctx) {
    ctx.hooks.semanticRules.tap(ctx.name, (rules) =>
      rules.add({
        name: 'dragons',
        subject: 'attempt',
        evaluate(evidence) {
          if (!('attempt' in evidence)) return { findings: [], next_actions: [] };
          const { attempt, lines, job } = evidence;
          const line = lines.find(({ text }) => text.includes('Error: dragons'));
          if (!line) return { findings: [], next_actions: [] };
          if (line.text.endsWith('!')) throw new Error('the rule is afraid of dragons');
          const cited = { attempt: attempt.attempt, seq: line.seq, text: line.text };
          const finding = {
            severity: 'critical',
            title: 'Here be dragons',
            message: 'They ate it.',
            confidence: 0.99,
            evidence: [cited],
          } as const;
          return {
            findings: [finding],
            next_actions: [
              { tool: 'retry_job', args: { job: job.id }, reason: 'an argument of a wrong name' },
              { tool: 'get_job', args: { job_id: job.id }, reason: 'Look at it.' },
            ],
          };
        },
      }),
    );
  },
});

eachDatabase((database: TestDatabase) => {
  describe('failures over HTTP', function () {
    this.timeout(30_000);
    let rig: Rig;
    let agent: JobAgent;
    before(async () => {
      rig = await Rig.start({ database, plugins: [logs(), metrics(), failures(), dragons()] });
      agent = await rig.agent();
    });
    after(() => rig?.close());

    /** A job whose first attempt writes these lines and exits with that code. */
    async function fail(lines: readonly string[], code = 1) {
      const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
      await agent.startJob(id);
      await rig.reach(id, 'RUNNING');
      const ship = shipper(agent, id);
      if (lines.length > 0) await ship.lines('stderr', [...lines]);
      await ship.end();
      agent.end(id, { kind: 'exited', code });
      return rig.reach(id, code === 0 ? 'SUCCEEDED' : 'FAILED');
    }

    const explain = async (path: string) => (await rig.get(path)).body as FailureExplanation;

    it('a job and its run are explained alike', async () => {
      const { id, run_id } = await fail(['step 1', ...MISSING]);
      const explained = await explain(`/jobs/${id}/failure`);
      expect(explained).to.include({ job_id: id, run_id, attempt: 1, exit_code: 1, rule: 'missing-module' });
      expect(explained.likely_cause).to.include('`apex`');
      expect(explained.evidence).to.deep.equal([{ attempt: 1, seq: 4, text: MISSING[3] }]);
      expect(explained.traceback?.frame).to.deep.equal({
        file: '/data/train.py',
        line: 1,
        function: '<module>',
        code: 'import apex',
      });
      expect(explained.next_actions.map(({ tool }) => tool)).to.deep.equal(['retry_job', 'tail_logs']);
      expect(await explain(`/runs/${run_id}/failure`)).to.deep.equal(explained);
    });

    it('the last attempt is explained, and another one when asked for', async () => {
      const { id, run_id } = await fail(MISSING);
      await rig.post(`/jobs/${id}/retry`);
      await agent.startJob(id, 2);
      await rig.reach(id, 'RUNNING');
      const ship = shipper(agent, id, 2);
      await ship.lines('stderr', ['OSError: [Errno 28] No space left on device']);
      agent.end(id, { kind: 'exited', code: 1 }, 2);
      await rig.reach(id, 'FAILED');
      expect((await explain(`/jobs/${id}/failure`)).rule).to.equal('disk-full');
      expect((await explain(`/jobs/${id}/failure?attempt=1`)).rule).to.equal('missing-module');
      expect((await explain(`/runs/${run_id}/failure`)).rule).to.equal('missing-module');
      expect((await explain(`/runs/${run_id}/failure?attempt=2`)).rule).to.equal('disk-full');
      expect((await rig.get(`/jobs/${id}/failure?attempt=3`)).status).to.equal(404);
    });

    it('an error far from the end of the log is found', async () => {
      const noise = Array.from({ length: 5_000 }, (_, index) => `shutting down ${index}`);
      const { id } = await fail([...MISSING, ...noise]);
      const explained = await explain(`/jobs/${id}/failure`);
      expect(explained.rule).to.equal('missing-module');
    });

    it('a rule of a third party counts, and its action that the tool would refuse does not', async () => {
      const { id } = await fail(['MythError: dragons', ...MISSING]);
      const explained = await explain(`/jobs/${id}/failure`);
      expect(explained).to.include({ rule: 'dragons', confidence: 0.99 });
      expect(explained.causes.map(({ rule }) => rule)).to.include('missing-module');
      expect(explained.next_actions.map(({ tool }) => tool)).to.deep.equal(['get_job']);
    });

    it('a rule that throws leaves the others', async () => {
      const { id } = await fail([...MISSING, 'MythError: dragons!']);
      expect((await explain(`/jobs/${id}/failure`)).causes.map(({ rule }) => rule)).to.include(
        'missing-module',
      );
    });

    it('a job that was not started, and one that succeeded', async () => {
      const done = await fail(['all is well'], 0);
      expect((await explain(`/jobs/${done.id}/failure`)).summary).to.equal('It did not fail: it succeeded.');
      const queued = await rig.submit({ node_selector: { node: 'nowhere' } });
      const explained = await explain(`/jobs/${queued.id}/failure`);
      expect(explained.summary).to.equal('It has not failed: it is QUEUED.');
      expect(explained.next_actions.map(({ tool }) => tool)).to.deep.equal(['get_job']);
      await rig.post(`/jobs/${queued.id}/cancel`);
    });

    it('a run without a job is explained by its metrics', async () => {
      const run = await rig.createRun();
      const points = [1, 2].map((step) => ({ seq: step, step, name: 'train/loss', value: 'NaN' }));
      await rig.post(`/runs/${run.id}/metrics:batch`, { points }, rig.tokens.sdk);
      await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' }, rig.tokens.sdk);
      const explained = await explain(`/runs/${run.id}/failure`);
      expect(explained).to.include({ job_id: null, rule: 'run-nan-loss' });
      expect(explained.evidence[0]).to.deep.equal({ metric: 'train/loss', step: 2, value: 'NaN' });
      expect((await rig.get(`/runs/${run.id}/failure?attempt=1`)).status).to.equal(404);
    });

    it('a run without a job is explained by the exception that its SDK has reported', async () => {
      const run = await rig.createRun();
      const frames =
        '  File "/home/u/train.py", line 7, in main\n    fit()\n  File "/x/site-packages/t.py", line 1, in fit';
      const message = `Traceback (most recent call last):\n${frames}\nKeyError: 'lr'`;
      const event = {
        title: "KeyError: 'lr'",
        message,
        severity: 'critical',
        data: { exception: 'KeyError' },
      };
      await rig.post(`/runs/${run.id}/events`, event, rig.tokens.sdk);
      await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' }, rig.tokens.sdk);
      const explained = await explain(`/runs/${run.id}/failure`);
      expect(explained.summary).to.equal(
        "No rule matched. Its last Python error is `KeyError: 'lr'` at line 7 of /home/u/train.py.",
      );
      expect(explained.traceback?.frame).to.include({ line: 7, function: 'main' });
    });

    it('ids that do not exist are 404', async () => {
      for (const path of ['/jobs/job_01HZZZZZZZZZZZZZZZZZZZZZZZ/failure', '/runs/nothing/failure'])
        expect((await rig.get(path)).status).to.equal(404);
    });

    it('what is kept of a log is stored after the end, and read again by the next server', async () => {
      const { id } = await fail(MISSING);
      const stored = () => rig.kernel.db('failure_logs').where({ job_id: id }).first('lines');
      const { lines } = await until(async () => (await stored()) ?? null, { timeoutMs: 15_000 });
      const kept = JSON.parse(lines as string) as { to_seq: number; first: unknown[] };
      expect(kept.to_seq).to.equal(4);
      expect(kept.first).to.have.length(4);
    });
  });
});
