import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { JOB_TRANSITIONS, nextJobStatus, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { EXIT_OK, KILLED, toReport } from '../../plugins/jobs/test/support/lab.js';
import { findMarked } from '../support/processes.js';
import { onClock, onHost, type Row } from '../support/state-stage.js';

const SIGSEGV = { kind: 'signaled', signal: 'SIGSEGV', code: -11 } as const;

/** The specification's table of job states, row by row. */
const JOB_TABLE: readonly Row[] = [
  {
    from: '(new)',
    trigger: 'submit',
    condition: 'valid payload',
    to: 'QUEUED',
    also: 'JOB_QUEUED event',
    moves: [],
    prove: onClock(async ({ lab }) => {
      const job = await lab.submit();
      expect(job).to.include({ status: 'QUEUED', attempt: 1 });
      expect((await lab.events(job)).map(({ type }) => type)).to.deep.equal(['JOB_QUEUED']);
      const invalid = await lab.request('POST', '/jobs', { comand: ['x'] });
      expect(invalid.status).to.equal(422);
      expect(Object.values(await lab.jobs.countByStatus(lab.kernel.db)).reduce((a, b) => a + b)).to.equal(1);
    }),
  },
  {
    from: 'QUEUED',
    trigger: 'scheduler tick',
    condition: 'a free slot (or cpu-only capacity) on an online node',
    to: 'DISPATCHING',
    also: 'slot is allocated exclusively; CUDA_VISIBLE_DEVICES injected',
    moves: [['claim', 'QUEUED']],
    prove: onHost(async ({ lab, agent, dir, sh, lines }) => {
      const go = path.join(dir, 'go');
      const script = `echo "GPUs: $CUDA_VISIBLE_DEVICES"; while [ ! -e ${go} ]; do sleep 0.02; done`;
      const gpu = { resources: { gpu: 1 } };
      const holder = await sh(script, gpu);
      await lab.reach(holder.id, 'RUNNING');
      const waiting = await sh(script, gpu);
      const beside = await sh(script);
      await lab.reach(beside.id, 'RUNNING');
      const node = await lab.nodes.get(lab.kernel.db, agent.nodeId);
      expect(node?.slots.map(({ job_id }) => job_id)).to.deep.equal([holder.id]);
      expect((await lab.job(waiting.id)).status).to.equal('QUEUED');
      await writeFile(go, '');
      for (const job of [holder, beside, waiting]) await lab.reach(job.id, 'SUCCEEDED');
      expect(await lines(holder)).to.deep.equal(['GPUs: 0']);
      expect(await lines(waiting)).to.deep.equal(['GPUs: 0']);
      expect(await lines(beside)).to.deep.equal(['GPUs: ']);
    }),
  },
  {
    from: 'DISPATCHING',
    trigger: 'agent ack timeout',
    condition: 'agent does not acknowledge',
    to: 'QUEUED',
    moves: [['ack_timeout', 'DISPATCHING']],
    prove: onClock(async ({ lab, clock }) => {
      const agent = await lab.agent();
      const job = await lab.submit();
      await agent.take('dispatch');
      await clock.advance(9_999);
      expect((await lab.job(job.id)).status).to.equal('DISPATCHING');
      await clock.advance(1);
      expect(await lab.reach(job.id, 'QUEUED')).to.include({ attempt: 1, node_id: null });
    }),
  },
  {
    from: 'DISPATCHING',
    trigger: 'agent acknowledges start',
    to: 'RUNNING',
    also: 'RUN_STARTED event',
    moves: [['started', 'DISPATCHING']],
    prove: onHost(async ({ lab, sh }) => {
      const job = await sh('exec sleep 300');
      expect(await lab.reach(job.id, 'RUNNING'))
        .to.have.property('started_at')
        .that.is.a('number');
      expect(await lab.events(job, 'RUN_STARTED')).to.have.length(1);
      expect(findMarked('SVC_JOB_ID', job.id)).to.have.length(1);
    }),
  },
  {
    from: 'RUNNING',
    trigger: 'process exits with code 0',
    to: 'SUCCEEDED',
    moves: [['exited_ok', 'RUNNING']],
    prove: onHost(async ({ lab, sh }) => {
      const job = await sh('exit 0');
      expect(await lab.reach(job.id, 'SUCCEEDED')).to.include({ exit_code: 0, failure_reason: null });
    }),
  },
  {
    from: 'RUNNING',
    trigger: 'process exits non-zero or by signal',
    to: 'FAILED',
    also: 'failure_reason set',
    moves: [['exited_bad', 'RUNNING']],
    prove: onHost(async ({ lab, sh }) => {
      const exits = await sh('exit 3');
      expect(await lab.reach(exits.id, 'FAILED')).to.include({ exit_code: 3, failure_reason: 'EXIT_CODE' });
      const dies = await sh('kill -SEGV $$');
      expect(await lab.reach(dies.id, 'FAILED')).to.include({ exit_code: -11, failure_reason: 'signal' });
    }),
  },
  {
    from: 'QUEUED or RUNNING',
    trigger: 'cancel',
    to: 'CANCELLED',
    also: 'process group gets SIGTERM, then SIGKILL, then is reaped; a cancelled running job shows exit code -15 and a RUN_FINISHED warning event',
    moves: [
      ['cancelled', 'QUEUED'],
      ['cancelled', 'RUNNING'],
    ],
    prove: onHost(async ({ lab, sh, lines }) => {
      const queued = await sh('exit 0', { resources: { gpu: 4 } });
      expect((await lab.request('POST', `/jobs/${queued.id}/cancel`)).body.result).to.equal('CANCELLED');
      expect(await lab.job(queued.id)).to.include({ status: 'CANCELLED', exit_code: null });

      const stubborn = `trap 'echo "$0 got SIGTERM"' TERM; echo "$0 $$"; while :; do sleep 0.05; done`;
      const job = await sh(`sh -c "$SCRIPT" child & exec sh -c "$SCRIPT" leader`, {
        env: { SCRIPT: stubborn },
      });
      await until(async () => (await lines(job)).length === 2);
      const pids = (await lines(job)).map((line) => line.split(' ')[1]);
      const answer = await lab.request('POST', `/jobs/${job.id}/cancel`);
      expect(answer.body).to.deep.equal({ job_id: job.id, result: 'cancel-requested', kill_grace_s: 0.5 });
      const ended = await lab.reach(job.id, 'CANCELLED');
      expect(ended).to.include({ exit_code: -15, failure_reason: null });
      expect(ended.failure_message).to.contain('was killed by SIGKILL');
      expect(await lines(job)).to.include.members(['leader got SIGTERM', 'child got SIGTERM']);
      expect(findMarked('SVC_JOB_ID', job.id)).to.deep.equal([]);
      expect(existsSync(`/proc/${pids[0]}/fd`) && existsSync(`/proc/${pids[1]}/fd`)).to.equal(false);
      const [finished, ...more] = await lab.events(job, 'RUN_FINISHED');
      expect(finished).to.include({ severity: 'warning' });
      expect(more).to.deep.equal([]);
    }),
  },
  {
    from: 'RUNNING',
    trigger: 'agent connection lost',
    to: 'LOST',
    also: 'on recovery the server and agent reconcile state',
    moves: [
      ['lost', 'RUNNING'],
      ['found', 'LOST'],
      ['exited_ok', 'LOST'],
      ['exited_bad', 'LOST'],
    ],
    prove: onClock(async ({ lab, clock, passUntil, run }) => {
      const agent = await lab.agent({ slots: [], max_cpu_jobs: 3 });
      const cpu = { resources: { cpu_only: true } };
      const [lives, succeeds, fails] = [await run(agent, cpu), await run(agent, cpu), await run(agent, cpu)];
      agent.cut();
      await clock.advance(80_000);
      expect((await lab.job(lives.job.id)).status, 'a short outage costs nothing').to.equal('RUNNING');
      for (const { job } of [lives, succeeds, fails]) {
        expect(await passUntil(job, 'LOST')).to.include({ failure_reason: 'LOST', exit_code: null });
      }
      const ended = (exit: typeof EXIT_OK | typeof SIGSEGV) => ({ state: 'ended' as const, exit });
      await agent.connect({
        attempts: [
          toReport(lives.dispatch),
          toReport(succeeds.dispatch, ended(EXIT_OK)),
          toReport(fails.dispatch, ended(SIGSEGV)),
        ],
      });
      expect(await lab.job(lives.job.id)).to.include({ status: 'RUNNING', failure_reason: null, attempt: 1 });
      expect(await lab.job(succeeds.job.id)).to.include({ status: 'SUCCEEDED', exit_code: 0 });
      expect(await lab.job(fails.job.id)).to.include({ status: 'FAILED', exit_code: -11 });
    }),
  },
  {
    from: 'terminal state or LOST',
    trigger: 'retry',
    to: 'QUEUED',
    also: 'attempt becomes previous attempt + 1',
    moves: [
      ['retry', 'SUCCEEDED'],
      ['retry', 'FAILED'],
      ['retry', 'CANCELLED'],
      ['retry', 'LOST'],
    ],
    prove: onClock(async ({ lab, passUntil, run }) => {
      const agent = await lab.agent();
      const retried = async (job: Job, attempt: number) => {
        const answer = await lab.request('POST', `/jobs/${job.id}/retry`);
        expect([answer.status, answer.body.status, answer.body.attempt]).to.deep.equal([
          200,
          'QUEUED',
          attempt,
        ]);
      };
      const { job, dispatch } = await run(agent);
      agent.ended(dispatch, EXIT_OK);
      await lab.reach(job.id, 'SUCCEEDED');
      await retried(job, 2);
      agent.ended(await agent.start({ attempt: 2 }), SIGSEGV);
      await lab.reach(job.id, 'FAILED');
      await retried(job, 3);
      const third = await agent.start({ attempt: 3 });
      await lab.reach(job.id, 'RUNNING');
      await lab.request('POST', `/jobs/${job.id}/cancel`);
      agent.ended(third, KILLED);
      await lab.reach(job.id, 'CANCELLED');
      await retried(job, 4);
      await agent.start({ attempt: 4 });
      await lab.reach(job.id, 'RUNNING');
      agent.cut();
      await passUntil(job, 'LOST');
      await retried(job, 5);
    }),
  },
  {
    from: 'FAILED or LOST',
    trigger: 'automatic retry',
    condition: 'attempt allowance under max_attempts, and failure class allows it',
    to: 'QUEUED',
    moves: [
      ['retry', 'FAILED'],
      ['retry', 'LOST'],
    ],
    prove: onClock(async ({ lab, clock, passUntil, run }) => {
      const agent = await lab.agent();
      const { job, dispatch } = await run(agent, { max_attempts: 3 });
      agent.ended(dispatch, SIGSEGV);
      await until(async () => (await lab.job(job.id)).attempt === 2);
      expect((await lab.job(job.id)).status).to.equal('QUEUED');
      await clock.advance(10_000);
      await agent.start({ attempt: 2 });
      await lab.reach(job.id, 'RUNNING');
      agent.cut();
      await passUntil(job, 'LOST');
      expect(await passUntil(job, 'QUEUED')).to.include({ attempt: 3 });
      const other = await lab.agent({ name: 'other' });
      await passUntil(job, 'DISPATCHING');
      other.ended(await other.start({ attempt: 3 }), SIGSEGV);
      await lab.reach(job.id, 'FAILED');
      for (const exit of [
        { kind: 'exited', code: 1 },
        { kind: 'oom', code: -9 },
      ] as const) {
        const fresh = await lab.agent({ name: exit.kind });
        const never = await run(fresh, { max_attempts: 3, node_selector: { node: exit.kind } });
        fresh.ended(never.dispatch, exit);
        await lab.reach(never.job.id, 'FAILED');
        await clock.advance(600_000);
        expect(await lab.job(never.job.id)).to.include({ status: 'FAILED', attempt: 1 });
      }
      expect(await lab.job(job.id), 'max_attempts is used up').to.include({ status: 'FAILED', attempt: 3 });
    }),
  },
  {
    from: 'RUNNING (evaluation job)',
    trigger: 'exit code 0 without a valid result file',
    to: 'FAILED',
    also: 'failure_reason EVALUATION_RESULT_INVALID',
    moves: [['exited_bad', 'RUNNING']],
    prove: onHost(async ({ lab, sh }) => {
      const none = await sh('exit 0', { type: 'EVALUATE' });
      const failed = await lab.reach(none.id, 'FAILED');
      expect(failed).to.include({ exit_code: 0, failure_reason: 'EVALUATION_RESULT_INVALID' });
      expect(failed.failure_message).to.contain('eval_result.json was not written');
      const valid = `echo '{"metrics": {"acc": 0.5}, "runtime_s": 1}' > "$SVC_EVAL_OUTPUT"`;
      await lab.reach((await sh(valid, { type: 'EVALUATE' })).id, 'SUCCEEDED');
    }),
  },
];

/** What the contract adds where the table is silent: no job may hang in a state because frames come late or not at all. */
const BEYOND: readonly Row[] = [
  {
    from: 'DISPATCHING',
    trigger: 'the exit overtakes the report of the start',
    to: 'SUCCEEDED or FAILED',
    moves: [
      ['exited_ok', 'DISPATCHING'],
      ['exited_bad', 'DISPATCHING'],
    ],
    prove: onClock(async ({ lab }) => {
      const agent = await lab.agent();
      for (const [exit, status] of [
        [EXIT_OK, 'SUCCEEDED'],
        [SIGSEGV, 'FAILED'],
      ] as const) {
        const job = await lab.submit();
        agent.ended(await agent.take('dispatch'), exit);
        await lab.reach(job.id, status);
      }
    }),
  },
  {
    from: 'DISPATCHING',
    trigger: 'the agent cannot start it',
    to: 'FAILED',
    also: 'failure_reason DISPATCH_FAILED',
    moves: [['dispatch_failed', 'DISPATCHING']],
    prove: onHost(async ({ lab, sh }) => {
      const job = await sh('', { command: ['no-such-program'] });
      const failed = await lab.reach(job.id, 'FAILED');
      expect(failed).to.include({ failure_reason: 'DISPATCH_FAILED', exit_code: null });
      expect(failed.failure_message).to.contain('program no-such-program was not found in PATH');
    }),
  },
  {
    from: 'DISPATCHING',
    trigger: 'agent connection lost after the acknowledgement',
    to: 'LOST',
    moves: [['lost', 'DISPATCHING']],
    prove: onClock(async ({ lab, passUntil }) => {
      const agent = await lab.agent();
      const job = await lab.submit();
      agent.accept(await agent.take('dispatch'));
      await agent.take('start');
      agent.cut();
      await passUntil(job, 'LOST');
    }),
  },
  {
    from: 'DISPATCHING or LOST',
    trigger: 'cancel',
    to: 'CANCELLED',
    moves: [
      ['cancelled', 'DISPATCHING'],
      ['cancelled', 'LOST'],
    ],
    prove: onClock(async ({ lab, passUntil, run }) => {
      const agent = await lab.agent();
      const starting = await lab.submit();
      const dispatch = await agent.take('dispatch');
      const requested = await lab.request('POST', `/jobs/${starting.id}/cancel`);
      expect(requested.body.result).to.equal('cancel-requested');
      agent.ended(dispatch, { kind: 'dispatch_failed', message: 'stopped before it started' });
      await lab.reach(starting.id, 'CANCELLED');
      const { job } = await run(agent);
      agent.cut();
      await passUntil(job, 'LOST');
      expect((await lab.request('POST', `/jobs/${job.id}/cancel`)).body.result).to.equal('CANCELLED');
    }),
  },
];

const toTitle = ({ from, trigger, condition, to, also }: Row): string =>
  `${from} | ${trigger} | ${condition ?? ''} | ${to} | ${also ?? ''}`;

describe('the table of job states', function () {
  this.timeout(120_000);
  for (const row of [...JOB_TABLE, ...BEYOND]) {
    it(toTitle(row), async () => {
      const changes = await row.prove();
      const seen = changes.map(({ before, after }) => `${before?.status} -> ${after.status}`);
      for (const [trigger, from] of row.moves)
        expect(seen).to.include(`${from} -> ${nextJobStatus(from, trigger)}`);
    });
  }

  it('has a row with a test for every transition that the contract allows, and for no other', () => {
    const named = [...JOB_TABLE, ...BEYOND].flatMap(({ moves }) =>
      moves.map(([trigger, from]) => `${trigger}: ${from}`),
    );
    const allowed = Object.entries(JOB_TRANSITIONS).flatMap(([trigger, steps]) =>
      Object.keys(steps).map((from) => `${trigger}: ${from}`),
    );
    expect([...new Set(named)]).to.have.members(allowed);
  });
});
