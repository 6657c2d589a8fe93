import { expect } from 'chai';
import { Download } from './harness/fake-api.js';
import { signInParts, who } from './harness/sign-in.js';
import { useStage } from './harness/stage.js';

describe('signing in', () => {
  const stage = useStage();
  const { heading, field, address, storedToken } = signInParts(stage);

  describe('by a link that is opened in an open tab', () => {
    const open = (hash: string) => stage.page.evaluate((to) => (window.location.hash = to), hash);
    const redeemed = {
      'POST /auth/sign-in-links:redeem': { token: 'svc_new', name: 'me', scope: 'write' },
    };

    for (const [who, token] of [
      ['who is signed in', 'svc_old'],
      ['who is not', null],
    ] as const)
      it(`signs in somebody ${who}, and keeps the page and no code`, async () => {
        await stage.mountApp({ address: '/runs?status=FAILED', token, api: redeemed });
        await (token === null ? field() : heading('Runs')).waitFor();
        await open('signin=code-2');
        await stage.untilEqual(storedToken, 'svc_new');
        await heading('Runs').waitFor();
        expect(stage.api.bodies).to.deep.equal([{ code: 'code-2' }]);
        expect(address()).to.equal('/runs?status=FAILED');
        stage.api.mistakes.length = 0;
      });

    it('asks first where work is not saved', async () => {
      await stage.mountApp({ address: '/jobs/new', api: redeemed });
      const command = stage.page.getByLabel('Command', { exact: true });
      await command.fill('python3 train.py');
      await open('signin=code-2');
      await stage.page.getByRole('button', { name: 'Keep editing' }).click();
      expect(await command.inputValue()).to.equal('python3 train.py');
      expect(stage.api.count('POST /auth')).to.equal(0);
      expect(address()).to.equal('/jobs/new');
    });
  });

  it('says that it waits while a slow server has not answered who is signed in', async () => {
    let answer = (_: object): void => {};
    const slow = new Promise<object>((resolve) => (answer = resolve));
    await stage.mountApp({ api: { 'GET /auth/whoami': () => slow } });
    await stage.page.getByText('Waiting for the server…').waitFor();
    await stage.expectSound();
    answer(who());
    await heading('Jobs').waitFor();
    await stage.page.getByText('Waiting for the server…').waitFor({ state: 'detached' });
  });

  for (const [what, answer] of [
    ['has no fields', {}],
    ['is null', new Download('null')],
    ['is of another shape', { message: 'blocked' }],
  ] as const)
    it(`keeps the token where the answer who is signed in ${what}, and asks again`, async () => {
      await stage.mountApp({ api: { 'GET /auth/whoami': answer } });
      await stage.page.getByText('The answer of the server cannot be read.').waitFor();
      expect(await storedToken()).to.equal('svc_test');
      stage.api.mistakes.length = 0;
      stage.api.change({ 'GET /auth/whoami': who() });
      await heading('Jobs').waitFor();
    });
});
