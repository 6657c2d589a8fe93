import type { Notifier } from '@svc/contract';
import { createTestKernel, fakeClock, until, type FakeClock, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { push } from '@svc/plugin-push';
import { expect } from 'chai';
import { append, HangingTarget, RecordingTarget, targets, titled } from './targets.js';

interface LogLine {
  readonly target?: string;
  readonly event_id?: string;
  readonly reason?: string;
  readonly dropped?: number;
  readonly msg: string;
}

describe('push, best effort', () => {
  let kernel: TestKernel;
  let clock: FakeClock;
  let lines: LogLine[];

  async function start(...notifiers: readonly Notifier[]): Promise<void> {
    clock = fakeClock();
    lines = [];
    kernel = await createTestKernel({
      plugins: [events(), push(), targets(...notifiers)],
      clock,
      logLevel: 'warn',
      writeLog: (line) => lines.push(JSON.parse(line) as LogLine),
    });
  }
  afterEach(() => kernel.close());

  it('tells every target of every event, once', async () => {
    const [phone, desk] = [new RecordingTarget({ name: 'phone' }), new RecordingTarget({ name: 'desk' })];
    await start(phone, desk);
    await append(kernel, ...titled(20));
    await until(() => desk.told.length === 20);
    for (const { told } of [phone, desk]) expect(told).to.deep.equal(titled(20).map(({ title }) => title));
    expect(lines).to.deep.equal([]);
  });

  it('tells a target only of the severities and types that it wants', async () => {
    const all = new RecordingTarget({ name: 'all' });
    const severe = new RecordingTarget({ name: 'severe', minSeverity: 'warning' });
    const typed = new RecordingTarget({ name: 'typed', types: ['OOM', 'LOSS_NAN'] });
    const both = new RecordingTarget({ name: 'both', minSeverity: 'critical', types: ['LOSS_NAN'] });
    await start(all, severe, typed, both);
    await append(
      kernel,
      { title: 'info' },
      { title: 'warning', severity: 'warning', type: 'LOSS_NAN' },
      { title: 'critical', severity: 'critical', type: 'LOSS_NAN' },
      { title: 'oom', severity: 'critical', type: 'OOM' },
    );
    await until(() => all.told.length === 4);
    expect(severe.told).to.deep.equal(['warning', 'critical', 'oom']);
    expect(typed.told).to.deep.equal(['warning', 'critical', 'oom']);
    expect(both.told).to.deep.equal(['critical']);
  });

  it('never repeats a failed push: one line in the log names the target, the event and the reason', async () => {
    const phone = new RecordingTarget();
    phone.isDown = true;
    await start(phone);
    const [event] = await append(kernel, { title: 'lost' });
    await until(() => lines.length > 0);
    phone.isDown = false;
    await clock.advance(24 * 3_600_000);
    await append(kernel, { title: 'next' });
    await until(() => phone.told.length > 0);
    expect(phone.told).to.deep.equal(['next']);
    expect(phone.tries).to.equal(2);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.deep.include({
      target: 'phone',
      event_id: event?.id,
      reason: 'the target answered 503',
      msg: 'push target phone: an event was not pushed: the target answered 503',
    });
  });

  it('goes on when a target throws at once', async () => {
    const desk = new RecordingTarget({ name: 'desk' });
    const send = (): never => {
      throw new Error('a defect');
    };
    await start({ name: 'broken', send }, desk);
    await append(kernel, {});
    await until(() => desk.told.length === 1 && lines.length === 1);
    expect(lines[0]?.reason).to.equal('a defect');
  });

  for (const heedsSignal of [true, false]) {
    const what = heedsSignal ? 'hangs' : 'hangs and does not heed the time-out';
    it(`gives up on a target that ${what} after 5 seconds, while other targets and the server go on`, async () => {
      const slow = new HangingTarget('slow', heedsSignal);
      const desk = new RecordingTarget({ name: 'desk' });
      await start(slow, desk);
      await append(kernel, {}, {});
      await until(() => desk.told.length === 2);
      expect(slow.open).to.equal(2);
      await clock.advance(4_999);
      expect([slow.open, lines]).to.deep.equal([2, []]);
      await clock.advance(1);
      await until(() => lines.length === 2);
      expect(slow.open).to.equal(0);
      expect(lines.map(({ reason }) => reason)).to.deep.equal(Array(2).fill('no answer within 5 s'));
      expect((await kernel.request('GET', '/events', { token: 'read' })).body.items).to.have.length(2);
    });
  }

  it('keeps a bounded number of events for a target that hangs, and says in one line that others are dropped', async () => {
    const slow = new HangingTarget('slow');
    const desk = new RecordingTarget({ name: 'desk' });
    await start(slow, desk);
    for (let round = 0; round < 20; round += 1) {
      await append(kernel, ...titled(50));
      await until(() => desk.told.length === 50 * (round + 1));
    }
    expect(slow.open).to.equal(4);
    expect(lines.map(({ msg }) => msg)).to.deep.equal([
      'push target slow: it is too slow: events are not pushed to it',
    ]);
    await clock.advance(5_000 * 26);
    await until(() => slow.open === 0);
    expect(slow.tries).to.equal(104);
    await append(kernel, {});
    await until(() => slow.open === 1);
    const [drops] = lines.filter(({ dropped }) => dropped !== undefined);
    expect(drops).to.include({ target: 'slow', dropped: 1000 - 104 });
    expect(lines).to.have.length(104 + 2);
  });

  it('does not hold up the close of the server', async () => {
    const slow = new HangingTarget('slow', false);
    await start(slow);
    await append(kernel, ...titled(30));
    await until(() => slow.open === 4);
    const startMs = performance.now();
    await kernel.close();
    expect(performance.now() - startMs).to.be.below(1_000);
    expect([slow.open, slow.tries, lines]).to.deep.equal([0, 4, []]);
  });
});
