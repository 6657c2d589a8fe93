import { expect } from 'chai';
import { Refusal } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, job } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

describe('the elements that ask and tell', () => {
  const stage = useStage();

  describe('svc-confirm', () => {
    const ask = async () => {
      const dialog = await stage.mount('svc-confirm', {
        properties: { headline: `Cancel ${LONG_NAME}?`, confirm: 'Cancel the job', dismiss: 'Keep it' },
      });
      await dialog.evaluate((element) => {
        const asked = (element as unknown as { ask(): Promise<boolean> }).ask();
        void asked.then((answer) => element.setAttribute('data-answer', String(answer)));
      });
      await stage.page.getByRole('dialog').waitFor();
      return dialog;
    };
    const answers: [string, () => Promise<void>, string][] = [
      ['yes to its button', () => stage.page.getByRole('button', { name: 'Cancel the job' }).click(), 'true'],
      ['no to the other one', () => stage.page.getByRole('button', { name: 'Keep it' }).click(), 'false'],
      ['no to Escape', () => stage.page.keyboard.press('Escape'), 'false'],
    ];
    for (const [what, act, answer] of answers) {
      it(`answers ${what}`, async () => {
        const dialog = await ask();
        await stage.expectSound();
        await act();
        await stage.untilEqual(() => dialog.getAttribute('data-answer'), answer);
        expect(await stage.page.getByRole('dialog').count()).to.equal(0);
      });
    }
  });

  describe('svc-job-actions', () => {
    const focused = () =>
      stage.page
        .locator('svc-job-actions')
        .evaluate((element) => element.shadowRoot!.activeElement?.getAttribute('aria-label'));

    it('asks before it cancels, and does nothing when the job is to be kept', async () => {
      const actions = await stage.mount('svc-job-actions', { properties: { job: job(1) } });
      await actions.getByRole('button', { name: 'Cancel' }).click();
      await stage.page.getByText('All its processes are asked to stop').waitFor();
      await stage.page.getByRole('button', { name: 'Keep it' }).click();
      await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(stage.api.requests.filter((request) => request.startsWith('POST'))).to.deep.equal([]);
    });

    it('says of a job that waits that it will never have run', async () => {
      const actions = await stage.mount('svc-job-actions', {
        properties: { job: job(1, { status: 'QUEUED' }) },
      });
      await actions.getByRole('button', { name: 'Cancel' }).click();
      await stage.page.getByText('The job is removed from the queue and will not run.').waitFor();
    });

    it('cancels, and tells the page', async () => {
      const actions = await stage.mount('svc-job-actions', {
        properties: { job: job(1) },
        api: {
          'POST /jobs/{job_id}/cancel': {
            job_id: job(1).id,
            result: 'cancel-requested',
            kill_grace_s: 10,
          },
        },
        events: ['svc-job-changed'],
      });
      await actions.getByRole('button', { name: 'Cancel' }).click();
      await stage.page.getByRole('button', { name: 'Cancel the job' }).click();
      await stage.untilEqual(async () => (await stage.heard()).map(([name]) => name), ['svc-job-changed']);
      expect(stage.api.requests).to.include(`POST /jobs/${job(1).id}/cancel`);
    });

    it('can be used again after a refusal, of which the page is told too', async () => {
      const actions = await stage.mount('svc-job-actions', {
        properties: { job: job(1, { status: 'FAILED' }), compact: true },
        api: { 'POST /jobs/{job_id}/retry': new Refusal(409, 'conflict', 'It runs already.') },
        events: ['svc-job-changed'],
      });
      const retry = actions.getByRole('button', { name: 'Retry job-1' });
      await retry.click();
      await stage.page.getByRole('button', { name: 'Retry the job' }).click();
      await stage.untilEqual(async () => (await stage.heard()).length, 1);
      expect(await retry.isEnabled()).to.equal(true);
      await stage.untilEqual(focused, 'Retry job-1');
    });

    it('asks before it retries, says what will happen, and leaves the focus where it was', async () => {
      const actions = await stage.mount('svc-job-actions', {
        properties: { job: job(1, { status: 'FAILED', attempt: 2, name: HOSTILE }) },
      });
      await actions.getByRole('button', { name: 'Retry' }).press('Enter');
      await stage.page.getByText('queued again as attempt 3').waitFor();
      await stage.expectSound();
      await stage.page.keyboard.press('Escape');
      await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
      await stage.untilEqual(focused, `Retry ${HOSTILE}`);
      expect(stage.api.count('POST')).to.equal(0);
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
    });

    it('offers nothing to a token that can only read', async () => {
      const actions = await stage.mount('svc-job-actions', {
        properties: { job: job(1, { status: 'FAILED' }) },
        canWrite: false,
      });
      expect(await actions.locator('.button').count()).to.equal(0);
    });
  });

  describe('svc-toasts', () => {
    const say = (text: string, isError: boolean) =>
      stage.page.evaluate(
        ([said, bad]) =>
          window.dispatchEvent(new CustomEvent('svc-toast', { detail: { text: said, isError: bad } })),
        [text, isError] as const,
      );

    it('keeps an error until it is closed, and lets other words go', async () => {
      const toasts = await stage.mount('svc-toasts');
      await say('It is queued.', false);
      await say('The server refused.', true);
      const texts = () => toasts.locator('li').allInnerTexts();
      await stage.untilEqual(texts, ['It is queued.', 'The server refused.']);
      await stage.expectSound();
      await stage.untilEqual(texts, ['The server refused.']);
      await toasts.getByRole('button', { name: 'Close' }).click();
      await stage.untilEqual(texts, []);
    });

    it('shows the newest four, and fits a phone with long ones', async () => {
      const toasts = await stage.mount('svc-toasts', { viewport: PHONE });
      for (const text of ['1', '2', '3', '4', LONG_NAME]) await say(text, true);
      await stage.untilEqual(() => toasts.locator('li').allInnerTexts(), ['2', '3', '4', LONG_NAME]);
      await stage.expectSound();
    });
  });

  describe('svc-stale', () => {
    it('is nothing without an error', async () => {
      const stale = await stage.mount('svc-stale', { properties: { error: null } });
      expect(await stale.evaluate((element) => element.shadowRoot!.textContent!.trim())).to.equal('');
    });

    it('says why, and fires svc-retry', async () => {
      const stale = await stage.mount('svc-stale', {
        properties: { error: { message: LONG_NAME } },
        events: ['svc-retry'],
        viewport: PHONE,
      });
      await stale.getByText(LONG_NAME).waitFor();
      await stage.expectSound();
      await stale.getByRole('button', { name: 'Try again' }).click();
      expect((await stage.heard()).map(([name]) => name)).to.deep.equal(['svc-retry']);
    });
  });

  describe('svc-notice', () => {
    it('says what is wrong, with a command and a way on', async () => {
      const properties = {
        headline: 'Nothing here',
        tone: 'danger',
        command: `svc ${LONG_NAME}`,
        action: 'Reload',
      };
      const notice = await stage.mount('svc-notice', { properties, events: ['svc-action'], viewport: PHONE });
      await notice.getByRole('heading', { name: 'Nothing here' }).waitFor();
      await notice.getByText(`svc ${LONG_NAME}`).waitFor();
      await notice.getByRole('button', { name: 'Reload' }).click();
      expect(await stage.heard()).to.have.length(1);
      await stage.expectSound();
    });

    it('has neither where there is none', async () => {
      const notice = await stage.mount('svc-notice', { properties: { headline: 'Nothing here' } });
      expect(await notice.getByRole('button').count()).to.equal(0);
      expect(await notice.locator('svc-code').count()).to.equal(0);
    });
  });
});
