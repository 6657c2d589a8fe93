import type { Run } from '@svc/contract';
import { expect } from 'chai';
import { Download, OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, NOW, idOf, metric, run, summary } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const ID = idOf('run', 1);
const OVER: Partial<Run> = { status: 'FAILED', finished_at: NOW };

describe('what can be done with a run', () => {
  const stage = useStage();
  const mount = (changes: Partial<Run> = {}, api: ApiTable = {}, rest: object = {}) => {
    const record = run(1, changes);
    return stage.mount('svc-run-actions', {
      properties: {
        run: record,
        summary: summary(record, { loss: metric({ count: 1200 }), acc: metric({ count: 34 }) }),
      },
      api,
      events: ['svc-run-changed'],
      address: `/runs/${ID}`,
      ...rest,
    });
  };
  const button = (name: string) => stage.page.getByRole('button', { name, exact: true });
  const shown = async () =>
    (
      await stage.page.locator('svc-run-actions').locator('button:visible, summary:visible').allInnerTexts()
    ).map((text) => text.trim());
  const changed = async () => (await stage.heard()).length;

  const cases: [string, Partial<Run>, boolean, string[]][] = [
    ['a run that nobody ends', {}, true, ['Edit', 'Export', 'End run']],
    ['a lost run without a job', { status: 'LOST' }, true, ['Edit', 'Export', 'End run', 'Delete']],
    ['a run of a job, which ends it', { job_id: idOf('job', 1) }, true, ['Edit', 'Export']],
    ['a run that is over', OVER, true, ['Edit', 'Export', 'Delete']],
    ['a run that is over, for a read token', OVER, false, ['Export']],
    ['a run that goes on, for a read token', {}, false, ['Export']],
  ];
  for (const [what, changes, canWrite, wanted] of cases) {
    it(`offers what is possible of ${what}`, async () => {
      await mount(changes, {}, { canWrite });
      await stage.untilEqual(shown, wanted);
      expect((await stage.page.locator('dialog').count()) > 0).to.equal(canWrite);
    });
  }

  for (const theme of ['light', 'dark'] as const) {
    for (const [where, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      it(`is sound in ${theme} on a ${where}`, async () => {
        await mount({ name: HOSTILE, tags: [HOSTILE, 'b'], status: 'LOST' }, {}, { theme, viewport });
        await button('Edit').click();
        await stage.expectSound('the editor');
        await button('Cancel').click();
        await button('End run').click();
        await stage.expectSound('the end');
        await button('Keep it open').click();
        await button('Delete').click();
        await stage.expectSound('the question');
        await button('Keep it').click();
        await stage.page.getByText('Export').first().click();
        await stage.expectSound('the menu');
        expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      });
    }
  }

  it('renames, tags and annotates, and sends what was changed alone', async () => {
    const api: ApiTable = { 'PATCH /runs/{run_id}': ({ body }: ApiRequest) => run(1, body as Partial<Run>) };
    const page = await mount({ name: 'old', tags: ['a', 'b'] }, api);
    await button('Edit').click();
    await page.getByLabel('Name').fill('  new ');
    await page.getByRole('button', { name: 'Remove the tag a' }).click();
    await page.getByLabel('Add a tag').fill('c d');
    await page.getByLabel('Add a tag').press('Enter');
    await page.getByLabel('Notes').fill('line 1\nline 2');
    await button('Save').click();
    await stage.untilEqual(changed, 1);
    expect(stage.api.bodies).to.deep.equal([{ name: 'new', notes: 'line 1\nline 2', tags: ['b', 'c d'] }]);
    expect(await page.locator('dialog[open]').count()).to.equal(0);
    await stage.untilEqual(
      () => page.evaluate((host) => host.shadowRoot?.activeElement?.textContent?.trim()),
      'Edit',
    );
  });

  it('sends nothing when nothing was changed', async () => {
    const page = await mount({ name: 'old' });
    await button('Edit').click();
    await button('Save').click();
    await stage.untilEqual(() => page.locator('dialog[open]').count(), 0);
    expect(stage.api.bodies).to.deep.equal([]);
  });

  it('adds a tag once, and takes the last one away by backspace', async () => {
    const page = await mount({ tags: ['a'] });
    await button('Edit').click();
    const field = page.getByLabel('Add a tag');
    for (const key of ['a', 'Enter', 'b', ',', 'Backspace', 'Backspace']) await field.press(key);
    expect(await page.locator('svc-tag-field .tag').count()).to.equal(0);
  });

  it('keeps what was written when the server refuses it, and says why', async () => {
    const page = await mount(
      {},
      { 'PATCH /runs/{run_id}': new Refusal(422, 'validation_error', 'name: is blank') },
    );
    await button('Edit').click();
    await page.getByLabel('Name').fill('new');
    await button('Save').click();
    await page.getByRole('alert').getByText('name: is blank').waitFor();
    expect(await page.getByLabel('Name').inputValue()).to.equal('new');
    expect(await changed()).to.equal(0);
  });

  it('refuses notes that are too long before they are sent', async () => {
    const page = await mount();
    await button('Edit').click();
    await page.getByLabel('Notes').fill('ü'.repeat(8193));
    await button('Save').click();
    await page
      .getByRole('alert')
      .getByText('The notes have 16,386 bytes; at most 16,384 fit. Shorten them.')
      .waitFor();
    expect(stage.api.bodies).to.deep.equal([]);
  });

  it('ends a run as what it is said to be', async () => {
    const page = await mount({}, { 'POST /runs/{run_id}/finish': run(1, OVER) });
    await button('End run').click();
    await page.getByLabel('Cancelled').check();
    await button('End the run').click();
    await stage.untilEqual(changed, 1);
    expect(stage.api.bodies).to.deep.equal([{ status: 'CANCELLED' }]);
  });

  it('says that a run has ended already', async () => {
    const page = await mount(
      {},
      { 'POST /runs/{run_id}/finish': new Refusal(409, 'conflict', 'the run has ended as SUCCEEDED') },
    );
    await button('End run').click();
    await button('End the run').click();
    await page.getByRole('alert').getByText('the run has ended as SUCCEEDED').waitFor();
  });

  it('says what is lost, and deletes when that is confirmed', async () => {
    await mount(OVER, { 'DELETE /runs/{run_id}': run(1, OVER) });
    await button('Delete').click();
    await stage.page.getByText('Its 1,234 points of 2 metrics, its config').waitFor();
    await button('Keep it').click();
    expect(stage.api.requests.filter((request) => request.startsWith('DELETE'))).to.deep.equal([]);
    await button('Delete').click();
    await button('Delete the run').click();
    await stage.untilEqual(() => new URL(stage.page.url()).pathname, '/runs');
    expect(stage.api.requests).to.include(`DELETE /runs/${ID}`);
  });

  it('stays on the page of a run that could not be deleted', async () => {
    await mount(OVER, {
      'DELETE /runs/{run_id}': new Refusal(409, 'conflict', 'a checkpoint is being evaluated'),
    });
    await button('Delete').click();
    await button('Delete the run').click();
    await stage.untilEqual(() => stage.api.count('DELETE'), 1);
    expect(new URL(stage.page.url()).pathname).to.equal(`/runs/${ID}`);
  });

  for (const [format, label] of Object.entries({ csv: 'CSV', jsonl: 'JSON Lines', parquet: 'Parquet' })) {
    it(`exports the points as ${label}, with the token in a header alone`, async () => {
      await mount(
        OVER,
        { 'GET /runs/{run_id}/metrics/export': new Download('name,step') },
        { canWrite: false },
      );
      const started = stage.page.waitForEvent('download');
      await stage.page.getByText('Export').first().click();
      await button(`Points as ${label}`).click();
      expect((await started).suggestedFilename()).to.equal(`${ID}-metrics.${format}`);
      expect(stage.api.requests).to.include(`GET /runs/${ID}/metrics/export?format=${format}`);
    });
  }

  it('can export again when the server did not answer', async () => {
    await mount(OVER, { 'GET /runs/{run_id}/metrics/export': OFFLINE });
    await stage.page.getByText('Export').first().click();
    await button('Points as CSV').click();
    await stage.page.getByText('Export').first().click();
    await stage.untilEqual(() => button('Points as CSV').isEnabled(), true);
    await stage.page.keyboard.press('Escape');
    await stage.untilEqual(() => button('Points as CSV').count(), 0);
  });
});
