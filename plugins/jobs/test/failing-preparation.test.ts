import { definePlugin } from '@svc/kernel';
import { fakeClock, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { attemptPrepare } from '../src/index.js';
import { Lab } from './support/lab.js';

describe('a dispatch that a plugin cannot prepare', () => {
  it('is tried again after a back-off, and not at once', async () => {
    let tries = 0;
    const broken = definePlugin({
      name: 'broken',
      requires: ['jobs'],
      setup: (ctx) =>
        ctx.tap(attemptPrepare, () => {
          tries += 1;
          throw new Error('it cannot be prepared');
        }),
    });
    const clock = fakeClock();
    const lab = await Lab.open({ clock, plugins: [broken()] });
    try {
      await lab.agent();
      const job = await lab.submit();
      await until(() => tries === 1);
      await lab.reach(job.id, 'QUEUED');
      for (let pass = 0; pass < 5; pass += 1) await clock.advance(900);
      expect(tries).to.equal(1);
      await until(async () => {
        await clock.advance(1000);
        return tries === 2;
      });
    } finally {
      await lab.close();
    }
  });
});
