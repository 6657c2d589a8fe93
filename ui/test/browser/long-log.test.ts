import { expect } from 'chai';
import { Download, OFFLINE, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { idOf, line } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const ID = idOf('job', 1);

/** A server with a log of so many lines. */
function longLog(
  count: number,
  textOf = (seq: number) => `line ${seq}`,
  stderr = (_seq: number) => false,
): ApiTable {
  const lineAt = (seq: number) => line(seq, textOf(seq), stderr(seq) ? 'stderr' : 'stdout');
  const all = (wanted: string | null, from = 0) =>
    Array.from({ length: Math.max(0, count - from) }, (_, at) => lineAt(from + at)).filter(
      ({ stream }) => wanted === null || stream === wanted,
    );
  const page = ({ query }: ApiRequest) => {
    const tail = Number(query.get('tail'));
    const from = query.get('from');
    const lines = all(query.get('stream'), from === null ? Math.max(0, count - tail) : Number(from));
    return { job_id: ID, attempt: 1, lines: lines.slice(0, tail), dropped: 0 };
  };
  const download = ({ query }: ApiRequest) =>
    new Download(
      all(query.get('stream'))
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    );
  return { 'GET /jobs/{job_id}/logs': page, 'GET /jobs/{job_id}/logs/download': download };
}

describe('a log of which only the end is here', () => {
  const stage = useStage();
  const mount = (api: ApiTable, properties: object = {}, viewport = DESK) =>
    stage.mount('svc-log-view', {
      properties: { jobId: ID, attempt: 1, attempts: 1, live: true, style: 'height: 400px', ...properties },
      api,
      viewport,
    });
  const texts = async () =>
    (await stage.page.locator('.row .text').allInnerTexts()).map((text) => text.trim());
  const lastText = async () => (await texts()).at(-1);
  const scroller = () => stage.page.locator('.scroll');
  const TOTAL = 100_000;
  const textOf = (seq: number) => (seq % 1000 === 7 ? `RuntimeError: number ${seq}` : `line ${seq}`);
  const mountAll = (properties: object = {}, viewport = DESK, count = TOTAL) =>
    mount(
      longLog(count, textOf, (seq) => seq % 10_000 === 9),
      properties,
      viewport,
    );
  const found = () => stage.page.locator('.found [role="status"]').innerText();
  const current = async () => (await stage.page.locator('.row.current .text').innerText()).trim();
  const path = () => stage.page.evaluate(() => location.pathname + location.search);
  const isCurrentInView = () =>
    stage.page.locator('.row.current .text').evaluate((row) => {
      const { top, bottom, left } = row.getBoundingClientRect();
      const frame = row.closest('.scroll')!.getBoundingClientRect();
      const isInFrame = top >= frame.top && bottom <= frame.bottom && left < frame.right;
      return isInFrame && top >= 0 && bottom <= innerHeight;
    });

  it('can be read from its start', async () => {
    const log = await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await log.getByRole('button', { name: 'Go to the start of the log' }).click();
    await stage.untilEqual(async () => (await texts())[0], 'line 0');
    await log.getByText('RuntimeError: number 7', { exact: true }).waitFor();
    await stage.expectSound('the start');
    await log.getByRole('button', { name: 'Jump to the newest line' }).click();
    await stage.untilEqual(lastText, 'line 99999');
    expect(stage.api.count(`GET /jobs/${ID}/logs/download`)).to.equal(0);
  });

  it('is read where it is scrolled to', async () => {
    await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await scroller().evaluate((element) => element.scrollTo(0, 50_000 * 20));
    await stage.page.getByText('line 50001', { exact: true }).waitFor();
    expect(stage.api.count(`GET /jobs/${ID}/logs`)).to.be.below(6);
  });

  it('leaves nothing in the page of the rows that are scrolled away', async () => {
    const log = await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await scroller().evaluate(async (element) => {
      for (let at = 0; at < 40; at += 1) {
        element.scrollTop -= 1500;
        await new Promise(requestAnimationFrame);
      }
    });
    await stage.untilEqual(() => log.locator('.unread').count(), 0);
    const nodes = await log.locator('.window').evaluate((element) => element.childNodes.length);
    expect(nodes).to.be.at.most(3 * (await log.locator('.window .row').count()) + 3);
  });

  it('shows the line of a given number', async () => {
    const log = await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await log.getByLabel('Go to line').fill('41235');
    await log.getByLabel('Go to line').press('Enter');
    await stage.untilEqual(current, 'line 41234');
    await stage.untilEqual(isCurrentInView, true);
    expect(await path()).to.equal(`/jobs/${ID}?attempt=1&line=41235`);
  });

  it('says how many lines it has when a line beyond them is asked for', async () => {
    const said = 'There is no line 1,000,000. The log has 100,000 lines.';
    const log = await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await log.getByLabel('Go to line').fill('1000000');
    await log.getByLabel('Go to line').press('Enter');
    await log.getByText(said).waitFor();
    await log.getByLabel('Go to line').fill('12');
    await log.getByLabel('Go to line').press('Enter');
    await stage.untilEqual(current, 'line 11');
    expect(await log.getByText(said).count()).to.equal(0);
  });

  it('shows the line that it is opened with, and what links to it', async () => {
    const log = await mountAll({ line: 1234 });
    await stage.untilEqual(current, 'line 1234');
    await stage.untilEqual(isCurrentInView, true);
    const link = log.getByRole('link', { name: 'Link to line 1235' });
    expect(await link.getAttribute('href')).to.equal(`/jobs/${ID}?attempt=1&line=1235`);
    await log.getByRole('button', { name: 'Copy a link to the line' }).waitFor();
    await stage.expectSound('a line');
  });

  it('says that it has no line of that number', async () => {
    const log = await mountAll({ line: TOTAL });
    await log.getByText('There is no line 100,001. The log has 100,000 lines.').waitFor();
  });

  for (const [where, viewport] of Object.entries({ 'a desk': DESK, 'a phone': PHONE })) {
    it(`is searched from its first line on, and each match is in view on ${where}`, async () => {
      await mountAll({}, viewport);
      await stage.untilEqual(lastText, 'line 99999');
      await stage.page.getByLabel('Search the log').fill('runtimeerror: number 7');
      await stage.untilEqual(found, '1 of 12');
      await stage.untilEqual(current, 'RuntimeError: number 7');
      await stage.untilEqual(isCurrentInView, true);
      await stage.page.getByLabel('Search the log').press('Enter');
      await stage.untilEqual(current, 'RuntimeError: number 7007');
      await stage.untilEqual(isCurrentInView, true);
      await stage.page.getByLabel('Search the log').press('Shift+Enter');
      await stage.page.getByLabel('Search the log').press('Shift+Enter');
      await stage.untilEqual(found, '12 of 12');
      await stage.untilEqual(current, 'RuntimeError: number 79007');
      await stage.untilEqual(isCurrentInView, true);
      await stage.expectSound(where);
    });
  }

  it('is searched until told to stop, and says how far it is', async () => {
    await mountAll();
    stage.api.change({ 'GET /jobs/{job_id}/logs/download': () => new Promise(() => {}) });
    await stage.untilEqual(lastText, 'line 99999');
    await stage.page.getByLabel('Search the log').fill('line 5');
    await stage.untilEqual(found, 'searching · 0 %');
    await stage.page.getByRole('button', { name: 'Stop searching' }).click();
    await stage.untilEqual(found, 'stopped');
  });

  it('says why it could not be searched', async () => {
    await mountAll();
    stage.api.change({ 'GET /jobs/{job_id}/logs/download': OFFLINE });
    await stage.untilEqual(lastText, 'line 99999');
    await stage.page.getByLabel('Search the log').fill('line 5');
    await stage.untilEqual(async () => /^search failed: The server/.test(await found()), true);
  });

  it('says why lines could not be read, and reads them when asked', async () => {
    const log = await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    stage.api.change({ 'GET /jobs/{job_id}/logs': OFFLINE });
    await log.getByRole('button', { name: 'Go to the start of the log' }).click();
    await log.getByText('Lines could not be read.').waitFor();
    stage.api.change(longLog(TOTAL, textOf));
    await log.getByRole('button', { name: 'Try again' }).click();
    await stage.untilEqual(async () => (await texts())[0], 'line 0');
  });

  it('leads to its errors, one after the other', async () => {
    const log = await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await log.getByRole('button', { name: 'Previous error' }).click();
    await stage.untilEqual(current, 'RuntimeError: number 99007');
    expect(await path()).to.equal(`/jobs/${ID}?attempt=1&line=99008`);
    await log.getByRole('button', { name: 'Previous error' }).click();
    await stage.untilEqual(current, 'RuntimeError: number 98007');
    await log.getByRole('button', { name: 'Next error' }).click();
    await log.getByRole('button', { name: 'Next error' }).click();
    await stage.untilEqual(current, 'RuntimeError: number 7');
    await stage.untilEqual(isCurrentInView, true);
  });

  it('shows all lines of a stream, though few', async () => {
    await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await stage.page.getByRole('group', { name: 'Stream' }).getByRole('button', { name: 'stderr' }).click();
    const wanted = Array.from({ length: 10 }, (_, at) => `line ${at * 10_000 + 9}`);
    await stage.untilEqual(texts, wanted);
  });

  it('is moved through by keys', async () => {
    await mountAll();
    await stage.untilEqual(lastText, 'line 99999');
    await stage.page.keyboard.press('/');
    await stage.page.keyboard.type('number 5007');
    await stage.untilEqual(current, 'RuntimeError: number 5007');
    await stage.page.keyboard.press('Escape');
    expect(await stage.page.getByLabel('Search the log').inputValue()).to.equal('');
    await stage.page.keyboard.press('e');
    await stage.untilEqual(current, 'RuntimeError: number 6007');
    await stage.page.keyboard.press('Home');
    await stage.untilEqual(async () => (await texts())[0], 'line 0');
    await stage.page.keyboard.press('End');
    await stage.untilEqual(lastText, 'line 99999');
  });

  it('keeps what is read in its place when lines above turn out to be long', async () => {
    const longText = (seq: number) => `line ${seq} ${'x'.repeat(seq % 3 === 0 ? 500 : 0)}`;
    const log = await mount(longLog(TOTAL, longText));
    await log.getByRole('button', { name: 'Wrap long lines' }).click();
    await log.getByLabel('Go to line').fill('50001');
    await log.getByLabel('Go to line').press('Enter');
    await stage.untilEqual(current, 'line 50000');
    await stage.untilEqual(isCurrentInView, true);
    await log.getByRole('button', { name: 'Wrap long lines' }).click();
    await stage.untilEqual(isCurrentInView, true);
  });
});
