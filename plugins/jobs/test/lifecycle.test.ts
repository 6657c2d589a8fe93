import type { Exit } from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Type } from 'typebox';
import { attemptPrepare } from '../src/hooks.js';
import { EXIT_OK, Lab, numberingRuns, tapping, virtualSlots } from './support/lab.js';

describe('the life of a job', () => {
  eachDatabase((database) => {
    let lab: Lab;
    /** As the auth plugin does. */
    const prepare = tapping('prepare', (ctx) => {
      ctx.tap(attemptPrepare, (plan) => ({ ...plan, env: { ...plan.env, SVC_TOKEN: 'svc_sdk_x' } }));
    });

    beforeEach(async () => void (lab = await Lab.open({ database, plugins: [numberingRuns, prepare] })));
    afterEach(() => lab.close());

    it('goes from QUEUED over DISPATCHING and RUNNING to SUCCEEDED: RUN_STARTED fires, then RUN_FINISHED fires', async () => {
      const agent = await lab.agent({ slots: virtualSlots(2) });
      const job = await lab.submit({
        name: 'resnet',
        command: ['python3', 'train.py'],
        working_dir: '/data',
        env: { LR: '3e-4' },
      });

      const dispatch = await agent.take('dispatch');
      expect(dispatch).to.deep.equal({
        type: 'dispatch',
        job_id: job.id,
        attempt: 1,
        job_type: 'TRAIN',
        run_id: 'run_1',
        name: 'resnet',
        runner: 'process',
        plan: { command: ['python3', 'train.py'] },
        env: { LR: '3e-4', SVC_JOB_ID: job.id, SVC_ATTEMPT: '1', SVC_TOKEN: 'svc_sdk_x' },
        working_dir: '/data',
        snapshot: null,
        gpu_indices: [0],
        kill_grace_ms: 10_000,
      });
      expect(await lab.job(job.id)).to.deep.include({
        status: 'DISPATCHING',
        pending_reason: null,
        node_id: agent.nodeId,
        gpu_indices: [0],
        run_id: null,
      });
      expect(await lab.slots(agent)).to.deep.equal([job.id, null]);
      expect(await lab.events(job, 'RUN_STARTED')).to.deep.equal([]);

      agent.accept(dispatch);
      agent.running(dispatch);
      const running = await lab.reach(job.id, 'RUNNING');
      expect(running).to.include({ run_id: 'run_1', exit_code: null });
      expect(running.started_at).to.be.a('number');
      const [started] = await lab.events(job, 'RUN_STARTED');
      expect(started).to.include({ title: 'Job resnet started', run_id: 'run_1', node_id: agent.nodeId });
      expect(await lab.events(job, 'RUN_FINISHED')).to.deep.equal([]);

      agent.ended(dispatch, EXIT_OK);
      await agent.take('forget', { job_id: job.id, attempt: 1 });
      expect(await lab.job(job.id)).to.include({
        status: 'SUCCEEDED',
        exit_code: 0,
        failure_reason: null,
        run_id: 'run_1',
      });
      expect(await lab.slots(agent)).to.deep.equal([null, null]);
      const [finished] = await lab.events(job, 'RUN_FINISHED');
      expect(finished).to.include({ severity: 'info', title: 'Job resnet succeeded', run_id: 'run_1' });
      expect(lab.history(job)).to.deep.equal(['QUEUED', 'DISPATCHING', 'RUNNING', 'SUCCEEDED']);
    });

    const failures: [Exit, number | null, string, RegExp][] = [
      [{ kind: 'exited', code: 3 }, 3, 'EXIT_CODE', /^exited with code 3$/],
      [{ kind: 'signaled', signal: 'SIGSEGV', code: -11 }, -11, 'signal', /killed by SIGSEGV/],
      [{ kind: 'oom', code: -9 }, -9, 'OOM', /out of memory/],
    ];
    for (const [exit, exit_code, failure_reason, message] of failures) {
      it(`ends FAILED with ${failure_reason}, and RUN_FINISHED fires as a warning`, async () => {
        const agent = await lab.agent();
        const job = await lab.submit();
        agent.ended(await agent.start(), exit);
        const failed = await lab.reach(job.id, 'FAILED');
        expect(failed).to.include({ exit_code, failure_reason });
        expect(failed.failure_message).to.match(message);
        const [event] = await lab.events(job, 'RUN_FINISHED');
        expect(event).to.include({ severity: 'warning', title: 'Job train failed', run_id: 'run_1' });
        expect(event?.message).to.match(message);
        expect(await lab.slots(agent)).to.deep.equal([null]);
      });
    }

    it('ends FAILED with DISPATCH_FAILED when the agent cannot start it, and RUN_STARTED does not fire', async () => {
      const agent = await lab.agent();
      const job = await lab.submit({ max_attempts: 3 });
      const dispatch = await agent.take('dispatch');
      agent.ended(dispatch, { kind: 'dispatch_failed', message: 'working_dir /nowhere does not exist' });
      expect(await lab.reach(job.id, 'FAILED')).to.include({
        failure_reason: 'DISPATCH_FAILED',
        failure_message: 'could not be started on gpu-1: working_dir /nowhere does not exist',
        exit_code: null,
        run_id: null,
        attempt: 1,
      });
      expect(lab.history(job)).not.to.include('RUNNING');
      expect(await lab.events(job, 'RUN_STARTED')).to.deep.equal([]);
    });

    it('takes an exit that overtakes the report of its start', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const dispatch = await agent.take('dispatch');
      agent.ended(dispatch, EXIT_OK, { started_at: Date.now() });
      await lab.reach(job.id, 'SUCCEEDED');
      expect(lab.history(job)).to.deep.equal(['QUEUED', 'DISPATCHING', 'RUNNING', 'SUCCEEDED']);
      expect((await lab.events(job)).map(({ type }) => type)).to.deep.equal([
        'JOB_QUEUED',
        'RUN_STARTED',
        'RUN_FINISHED',
      ]);
    });

    it('takes each report once, however often it comes', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const dispatch = await agent.start();
      agent.accept(dispatch);
      agent.running(dispatch);
      agent.ended(dispatch, EXIT_OK);
      agent.ended(dispatch, { kind: 'exited', code: 9 });
      await until(() => agent.count('forget') === 2);
      expect(await lab.job(job.id)).to.include({ status: 'SUCCEEDED', exit_code: 0 });
      expect((await lab.events(job)).map(({ type }) => type)).to.deep.equal([
        'JOB_QUEUED',
        'RUN_STARTED',
        'RUN_FINISHED',
      ]);
    });

    it('holds what the agent says of times between what the server saw', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const dispatch = await agent.take('dispatch');
      agent.running(dispatch, { started_at: 1 });
      agent.ended(dispatch, EXIT_OK, { started_at: 1, finished_at: 8_000_000_000_000 });
      const { dispatched_at, started_at, finished_at } = await lab.reach(job.id, 'SUCCEEDED');
      expect(started_at).to.equal(dispatched_at);
      expect(finished_at).to.be.at.least(started_at!).and.at.most(Date.now());
    });

    it('gives a slot to the next job as soon as it is free, by priority and then by age', async () => {
      const agent = await lab.agent();
      await lab.submit();
      const holder = await agent.start();
      const [old, young, urgent] = [
        await lab.submit(),
        await lab.submit(),
        await lab.submit({ priority: 10 }),
      ];
      agent.ended(holder, EXIT_OK);
      const order = [];
      for (const _ of [old, young, urgent]) {
        const dispatch = await agent.start();
        order.push(dispatch.job_id);
        agent.ended(dispatch, EXIT_OK);
      }
      expect(order).to.deep.equal([urgent.id, old.id, young.id]);
    });

    it('runs cpu-only jobs side by side, up to the cap of the node', async () => {
      const agent = await lab.agent({ slots: [], max_cpu_jobs: 2 });
      const cpu = { resources: { cpu_only: true } };
      const submitted = [await lab.submit(cpu), await lab.submit(cpu), await lab.submit(cpu)];
      const first = await agent.start();
      await agent.start();
      expect(first.gpu_indices).to.deep.equal([]);
      const third = await lab.when(
        submitted[2]!.id,
        ({ pending_reason }) => pending_reason?.startsWith('waiting for a free cpu-only place') ?? false,
      );
      expect(third.status).to.equal('QUEUED');
      agent.ended(first, EXIT_OK);
      expect((await agent.take('dispatch')).job_id).to.equal(third.id);
    });

    it('says why it waits, from the first answer on', async () => {
      const job = await lab.submit({ resources: { gpu: 4 } });
      expect(job.pending_reason).to.not.equal(null);
      await until(
        async () => (await lab.job(job.id)).pending_reason === 'no node has registered yet: start an agent',
      );
      await lab.agent({ slots: virtualSlots(2) });
      await until(
        async () => (await lab.job(job.id)).pending_reason === 'needs 4 GPUs: the largest online node has 2',
      );
    });

    it('gives nothing new to a draining node, and lets it finish', async () => {
      const agent = await lab.agent({ slots: virtualSlots(2) });
      const running = await lab.submit();
      const dispatch = await agent.start();
      await lab.request('POST', `/nodes/${agent.nodeId}/drain`);
      const waiting = await lab.submit();
      await until(
        async () =>
          (await lab.job(waiting.id)).pending_reason === 'every node that matches is draining: gpu-1',
      );
      agent.ended(dispatch, EXIT_OK);
      await lab.reach(running.id, 'SUCCEEDED');
      expect((await lab.job(waiting.id)).status).to.equal('QUEUED');
      await lab.request('POST', `/nodes/${agent.nodeId}/undrain`);
      expect((await agent.take('dispatch')).job_id).to.equal(waiting.id);
    });

    it('keeps each attempt for later', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      agent.ended(await agent.start(), { kind: 'exited', code: 3 });
      await lab.reach(job.id, 'FAILED');
      await lab.request('POST', `/jobs/${job.id}/retry`);
      agent.ended(await agent.start(), EXIT_OK);
      await lab.reach(job.id, 'SUCCEEDED');
      const attempts = await lab.attempts(job.id);
      expect(
        attempts.map(({ attempt, status, exit_code, failure_reason, run_id }) => ({
          attempt,
          status,
          exit_code,
          failure_reason,
          run_id,
        })),
      ).to.deep.equal([
        { attempt: 1, status: 'FAILED', exit_code: 3, failure_reason: 'EXIT_CODE', run_id: 'run_1' },
        { attempt: 2, status: 'SUCCEEDED', exit_code: 0, failure_reason: null, run_id: 'run_2' },
      ]);
      expect(attempts[0]).to.deep.include({ node_id: agent.nodeId, gpu_indices: '[0]' });
    });

    it('counts jobs by state', async () => {
      await lab.submit();
      const counts = await lab.jobs.countByStatus(lab.kernel.db);
      expect(counts).to.deep.equal({
        QUEUED: 1,
        DISPATCHING: 0,
        RUNNING: 0,
        SUCCEEDED: 0,
        FAILED: 0,
        CANCELLED: 0,
        LOST: 0,
      });
    });
  });

  it('queues a job again when its dispatch could not be prepared, and starts it later', async () => {
    let isBroken = true;
    const broken = tapping('broken', (ctx) => {
      ctx.tap(attemptPrepare, (plan) => {
        if (isBroken) throw new Error('database is locked');
        return plan;
      });
    });
    const lab = await Lab.open({ plugins: [broken], options: { tick_s: 0.05 } });
    const agent = await lab.agent();
    const job = await lab.submit();
    await until(() => lab.history(job).filter((status) => status === 'QUEUED').length > 1);
    isBroken = false;
    expect(await agent.start()).to.include({ job_id: job.id, attempt: 1 });
    await lab.reach(job.id, 'RUNNING');
    await lab.close();
  });

  it('fails a job that its runner cannot plan', async () => {
    const picky = createRunner('picky', () => {
      throw new Error('no such image');
    });
    const lab = await Lab.open({ plugins: [picky] });
    const agent = await lab.agent({
      runners: [{ name: 'picky', available: true, reason: null, version: null }],
    });
    const job = await lab.submit({ runner: 'picky' });
    expect(await lab.reach(job.id, 'FAILED')).to.include({
      failure_reason: 'DISPATCH_FAILED',
      failure_message: 'could not be started on gpu-1: runner "picky": no such image',
    });
    expect(await lab.slots(agent)).to.deep.equal([null]);
    await lab.close();
  });

  it('starts a job once its runner can run on a node', async () => {
    const lab = await Lab.open();
    const runner = { name: 'process', available: false, reason: 'not started yet', version: null };
    const agent = await lab.agent({ runners: [runner] });
    const job = await lab.submit({});
    await until(async () => (await lab.job(job.id)).pending_reason?.includes('not started yet'));
    agent.send({ type: 'runners', runners: [{ ...runner, available: true, reason: null }] });
    await agent.start({ job_id: job.id });
    await lab.close();
  });

  it('gives a job of an external runner to a node that is full, and takes nothing of it', async () => {
    const external = tapping('external', (ctx) => {
      const runner = {
        name: 'external',
        optionsSchema: Type.Object({}),
        placement: 'external',
        plan: () => ({}),
      } as const;
      ctx.hooks.runners.tap('external', (runners) => runners.add(runner));
    });
    const lab = await Lab.open({ plugins: [external] });
    const runners = ['process', 'external'].map((name) => ({
      name,
      available: true,
      reason: null,
      version: null,
    }));
    const agent = await lab.agent({ runners, max_cpu_jobs: 0 });
    const local = await lab.submit({});
    await agent.start({ job_id: local.id });
    const [first, second] = [
      await lab.submit({ runner: 'external', resources: { gpu: 8 } }),
      await lab.submit({ runner: 'external' }),
    ];
    for (const { id } of [first, second])
      expect((await agent.start({ job_id: id })).gpu_indices).to.deep.equal([]);
    expect(await lab.slots(agent)).to.deep.equal([local.id]);
    expect((await lab.nodes.capacity(lab.kernel.db))[0]).to.include({ cpu_jobs: 0 });
    agent.ended({ job_id: first.id, attempt: 1 }, { kind: 'exited', code: 0 });
    await lab.reach(first.id, 'SUCCEEDED');
    const held = await lab.nodes.holdings(lab.kernel.db, agent.nodeId);
    expect(held.map(({ job_id }) => job_id)).to.have.members([local.id, second.id]);
    await lab.close();
  });

  it('cancels a job that its runner cannot plan, if that was asked for meanwhile', async () => {
    let refuse = (_error: Error): void => undefined;
    const plan = new Promise<never>((_resolve, reject) => (refuse = reject));
    const lab = await Lab.open({ plugins: [createRunner('slow', () => plan)] });
    const agent = await lab.agent({
      runners: [{ name: 'slow', available: true, reason: null, version: null }],
    });
    const job = await lab.submit({ runner: 'slow' });
    await lab.reach(job.id, 'DISPATCHING');
    const { body } = await lab.request('POST', `/jobs/${job.id}/cancel`);
    expect(body).to.include({ result: 'cancel-requested' });
    refuse(new Error('no such image'));
    expect(await lab.reach(job.id, 'CANCELLED')).to.include({ failure_reason: null, exit_code: null });
    expect(await lab.slots(agent)).to.deep.equal([null]);
    await lab.close();
  });
});

function createRunner(name: string, plan: () => Promise<never>) {
  return tapping(name, (ctx) => {
    ctx.hooks.runners.tap(name, (runners) =>
      runners.add({ name, optionsSchema: Type.Object({}), placement: 'slots', plan }),
    );
  });
}
