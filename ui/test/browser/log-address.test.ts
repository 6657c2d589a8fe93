import { expect } from 'chai';
import { ID, mountLog, type LogOptions } from './harness/log.js';
import { line } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('the log has in the address', () => {
  const stage = useStage();
  const mount = (lines: readonly object[], options?: LogOptions) => mountLog(stage, lines, options);
  const scroller = () => stage.page.locator('.scroll');
  const lines = [line(0, 'loss 1'), line(1, 'loss 2', 'stderr'), line(2, 'loss 3'), line(3, 'x'.repeat(500))];
  const query = () => stage.page.evaluate(() => location.search);
  const field = () => stage.page.getByLabel('Search the log');
  const current = () => stage.page.locator('.row.current .text').innerText();
  const found = () => stage.page.locator('.found [role="status"]').innerText();
  const isOn = (name: string) =>
    stage.page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed');

  it('what is searched for, the stream and the switches, and loses them with them', async () => {
    const log = await mount(lines);
    await field().fill('Loss');
    await log.getByRole('button', { name: 'stderr', exact: true }).click();
    await stage.untilEqual(query, '?search=Loss&stream=stderr');
    const before = await isOn('Wrap long lines');
    await log.getByRole('button', { name: 'Wrap long lines' }).click();
    await stage.untilEqual(query, `?search=Loss&stream=stderr&wrap=${before === 'true' ? 'off' : 'on'}`);
    await log.getByRole('button', { name: 'All', exact: true }).click();
    await field().press('Escape');
    await stage.untilEqual(async () => /search|stream/.test(await query()), false);
  });

  it('all that it shows when it is opened', async () => {
    const log = await mount(lines, { address: '/?search=LOSS&stream=stdout&wrap=on&times=off' });
    await stage.untilEqual(found, '1 of 2');
    await stage.untilEqual(current, 'loss 1');
    expect(await field().inputValue()).to.equal('LOSS');
    expect(await isOn('stdout')).to.equal('true');
    expect(await isOn('Wrap long lines')).to.equal('true');
    expect(await isOn('Show times')).to.equal('false');
    expect(await scroller().evaluate((element) => element.scrollWidth > element.clientWidth)).to.equal(false);
    const link = log.getByRole('link', { name: 'Link to line 3' });
    expect(await link.getAttribute('href')).to.equal(
      `/jobs/${ID}?attempt=1&search=LOSS&stream=stdout&wrap=on&times=off&line=3`,
    );
  });

  it('the line too, which is shown instead of the first match', async () => {
    await mount(lines, { address: '/?search=loss', properties: { line: 2 } });
    await stage.untilEqual(found, '3 of 3');
    expect(await current()).to.equal('loss 3');
  });

  it('what the back button brings back', async () => {
    await mount(lines);
    await stage.page.evaluate(() => {
      history.pushState(null, '', '?search=loss&stream=stderr');
      window.dispatchEvent(new Event('svc-navigate'));
    });
    await stage.untilEqual(found, '1 of 1');
    await stage.page.goBack();
    await stage.untilEqual(() => field().inputValue(), '');
    expect(await isOn('All')).to.equal('true');
    expect(await stage.page.locator('mark').count()).to.equal(0);
  });
});
