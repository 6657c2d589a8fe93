import { expect } from 'chai';
import { useStage } from './harness/stage.js';

describe('the form for a new job,', () => {
  const stage = useStage();
  const field = (label: string) => stage.page.getByLabel(label, { exact: true });
  const button = (name: string | RegExp) => stage.page.getByRole('button', { name });
  const mount = () => stage.mount('svc-new-job-page', { address: '/jobs/new' });

  describe('with typed text', () => {
    const open = async () => {
      await stage.mountApp({ address: '/jobs' });
      await stage.page.getByRole('link', { name: 'Submit a job' }).click();
      await field('Command').waitFor();
    };
    const path = () => new URL(stage.page.url()).pathname;

    it('is not left by a link without a question', async () => {
      await open();
      await field('Command').fill('python3 train.py');
      await stage.page.getByRole('link', { name: 'Runs' }).first().click();
      await stage.page.getByRole('dialog').getByText('Leave without submitting?').waitFor();
      await button('Keep editing').click();
      expect(path()).to.equal('/jobs/new');
      expect(await field('Command').inputValue()).to.equal('python3 train.py');
      await stage.page.getByRole('link', { name: 'Runs' }).first().click();
      await button('Leave').click();
      await stage.untilEqual(path, '/runs');
    });

    it('is not left by the back button without a question', async () => {
      await open();
      await field('Command').fill('python3 train.py');
      await stage.page.evaluate(() => history.back());
      await button('Keep editing').click();
      expect(path()).to.equal('/jobs/new');
      expect(await field('Command').inputValue()).to.equal('python3 train.py');
      await stage.page.evaluate(() => history.back());
      await button('Leave').click();
      await stage.untilEqual(path, '/jobs');
    });

    it('is left without a question once it is as it was', async () => {
      await open();
      await field('Command').fill('x');
      await field('Command').fill('');
      await stage.page.getByRole('link', { name: 'Runs' }).first().click();
      await stage.untilEqual(path, '/runs');
    });

    it('is still there after a sign-in anew, without the values of variables', async () => {
      await mount();
      await field('Command').fill('python3 train.py');
      await button('Add a variable').click();
      await field('Name of variable 1').fill('KEY');
      await field('Value of KEY').fill('secret');
      await mount();
      await stage.untilEqual(() => field('Command').inputValue(), 'python3 train.py');
      expect(await field('Value of KEY').inputValue()).to.equal('');
      await field('Command').fill('');
      await button('Remove KEY').click();
    });
  });
});
