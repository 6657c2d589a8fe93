import { expect } from 'chai';
import { findTurning } from './harness/soundness.js';
import { useStage } from './harness/stage.js';

describe('the check of writing directions', () => {
  const stage = useStage();
  const turningIn = async (markup: string) => {
    await stage.page.evaluate((text) => (document.body.innerHTML = text), markup);
    return findTurning(stage.page);
  };

  it('finds a text that turns what follows it', async () => {
    expect(await turningIn('<p>a\u202eb<i> behind</i></p>')).to.deep.equal(['a\u202eb | behind']);
    expect(await turningIn('<p><i>a\u202e</i> behind</p>')).to.deep.equal(['a\u202e | behind']);
  });

  it('takes one that its element keeps to itself', async () => {
    expect(await turningIn('<p>of <bdi>a\u202e</bdi> behind</p><p>a\u202e</p>behind')).to.deep.equal([]);
  });
});
