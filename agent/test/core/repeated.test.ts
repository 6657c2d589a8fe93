import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { repeated } from '../../src/core/repeated.js';

describe('repeated work', () => {
  it('is done again and again, one at a time, until it is closed', async () => {
    let [count, running] = [0, 0];
    let most = 0;
    const work = repeated(
      async () => {
        most = Math.max(most, (running += 1));
        await new Promise(setImmediate);
        running -= 1;
        count += 1;
      },
      () => 1,
    );
    await until(() => count >= 3, 'three times');
    await work.close();
    const atEnd = count;
    expect([most, running]).to.deep.equal([1, 0]);
    await new Promise(setImmediate);
    expect(count).to.equal(atEnd);
  });

  it('is waited for by the one who closes it, and its pause is not', async () => {
    let end = () => {};
    let isOver = false;
    const work = repeated(
      async () => {
        await new Promise<void>((resolve) => (end = resolve));
        isOver = true;
      },
      () => 3_600_000,
    );
    const closed = work.close();
    end();
    await closed;
    expect(isOver).to.equal(true);
    const pausing = repeated(
      async () => {},
      () => 3_600_000,
    );
    await new Promise(setImmediate);
    await pausing.close();
  });
});
