import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { jobOrder, jobTransition, type QueuedJob } from '../src/hooks.js';
import { EXIT_OK, Lab, tapping, virtualSlots } from './support/lab.js';

describe('the scheduler', () => {
  let clock: FakeClock;
  let lab: Lab | undefined;
  beforeEach(() => {
    clock = fakeClock();
  });
  afterEach(async () => {
    await lab?.close();
    lab = undefined;
  });

  it('is woken by a submit, a freed slot and a node that comes online, without waiting for its tick', async () => {
    lab = await Lab.open({ clock, options: { tick_s: 3600 } });
    const [first, second] = [await lab.submit(), await lab.submit()];
    const agent = await lab.agent();
    const dispatch = await agent.start({ job_id: first.id });
    agent.ended(dispatch, EXIT_OK);
    await agent.start({ job_id: second.id });
    agent.ended({ job_id: second.id, attempt: 1 }, EXIT_OK);
    await lab.reach(second.id, 'SUCCEEDED');
    const third = await lab.submit();
    await agent.take('dispatch', { job_id: third.id });
  });

  it('ticks every 2 s', async () => {
    lab = await Lab.open({ clock });
    const { id } = await lab.submit();
    await lab.when(
      id,
      ({ pending_reason }) => pending_reason !== null && !pending_reason.startsWith('just queued'),
    );
    await lab.kernel.db('jobs').where({ id }).update({ pending_reason: 'out of date' });
    await clock.advance(1_999);
    expect((await lab.job(id)).pending_reason).to.equal('out of date');
    await clock.advance(1);
    await lab.when(
      id,
      ({ pending_reason }) => pending_reason === 'no node has registered yet: start an agent',
    );
  });

  it('keeps a node for a large job that has waited 10 minutes at the head', async () => {
    lab = await Lab.open({ clock });
    const agent = await lab.agent({ slots: virtualSlots(2) });
    const beat = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 30_000) {
        await clock.advance(30_000);
        agent.send({ type: 'heartbeat', ts: clock.now() });
        await lab!.job(large.id);
      }
    };
    await lab.submit({ name: 'small-1' });
    const small = await agent.start();
    const large = await lab.submit({ name: 'large', resources: { gpu: 2 } });
    await lab.when(
      large.id,
      ({ pending_reason }) => pending_reason === 'waiting for 2 free GPUs on one node',
    );

    await lab.submit({ name: 'small-2' });
    const passing = await agent.start();
    expect(passing.name).to.equal('small-2');
    await beat(600_000);
    agent.ended(passing, EXIT_OK);
    const late = await lab.submit({ name: 'small-3' });
    await lab.when(late.id, ({ pending_reason }) => pending_reason === 'waiting for 1 free GPU behind 1 job');
    agent.ended(small, EXIT_OK);
    expect((await agent.take('dispatch')).name).to.equal('large');
  });

  it('lets a plugin reorder the queue, and loses no job that the plugin leaves out', async () => {
    let last: readonly QueuedJob[] = [];
    const backwards = tapping('backwards', (ctx) => {
      ctx.tap(jobOrder, (queue) => {
        last = queue;
        return queue.slice(1).toReversed();
      });
    });
    lab = await Lab.open({ clock, plugins: [backwards] });
    const submitted = [await lab.submit(), await lab.submit(), await lab.submit()];
    const agent = await lab.agent();
    const order = [];
    for (const _ of submitted) {
      const dispatch = await agent.start();
      order.push(dispatch.job_id);
      agent.ended(dispatch, EXIT_OK);
    }
    expect(order).to.deep.equal([submitted[2]!.id, submitted[1]!.id, submitted[0]!.id]);
    expect(last[0]).to.include.keys('id', 'priority', 'project_id', 'created_at');
  });

  it('lets one job that a plugin fails on hold up no other, and says so in its reason', async () => {
    const failing = tapping('failing', (ctx) => {
      ctx.tap(jobTransition, ({ after }) => {
        if (after.name === 'cursed' && after.status === 'DISPATCHING') throw new Error('no');
      });
    });
    lab = await Lab.open({ clock, plugins: [failing] });
    const cursed = await lab.submit({ name: 'cursed' });
    const fine = await lab.submit({ name: 'fine' });
    const agent = await lab.agent({ slots: virtualSlots(2) });
    await agent.start({ job_id: fine.id });
    await lab.when(
      cursed.id,
      ({ pending_reason }) => pending_reason?.startsWith('its start failed on the server') ?? false,
    );
    expect(await lab.slots(agent)).to.include(null);
  });

  it('looks after all other jobs when a plugin fails on one that is lost', async () => {
    const failing = tapping('failing', (ctx) => {
      ctx.tap(jobTransition, ({ after }) => {
        if (after.name === 'cursed' && after.status === 'LOST') throw new Error('no');
      });
    });
    const here = (lab = await Lab.open({ clock, plugins: [failing] }));
    const agent = await here.agent({ slots: virtualSlots(2) });
    const cursed = await here.submit({ name: 'cursed' });
    await agent.start({ job_id: cursed.id });
    const fine = await here.submit({ name: 'fine' });
    await agent.start({ job_id: fine.id });
    await here.reach(fine.id, 'RUNNING');
    agent.cut();
    await until(async () => {
      await clock.advance(5000);
      return (await here.job(fine.id)).status === 'LOST';
    });
    const next = await here.submit();
    const other = await here.agent({ name: 'other' });
    await other.start({ job_id: next.id });
  });

  it('writes a reason only when it is another', async () => {
    lab = await Lab.open({ clock });
    await lab.submit();
    const { id } = await lab.submit();
    const said = 'no node has registered yet: start an agent';
    await lab.when(id, ({ pending_reason }) => pending_reason === said);
    const before = lab.changes.length;
    let writes = 0;
    lab.kernel.db.on('query', ({ sql }: { sql: string }) => void (/update .jobs/.test(sql) && writes++));
    await clock.advance(20_000);
    await until(async () => (await lab!.job(id)).pending_reason === said);
    expect(writes).to.equal(0);
    expect(lab.changes.length).to.equal(before);
  });
});
