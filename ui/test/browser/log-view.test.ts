import { expect } from 'chai';
import { OFFLINE } from './harness/fake-api.js';
import { ID, mountLog, type LogOptions } from './harness/log.js';
import { HOSTILE, LONG_NAME, line } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const STREAM = `/jobs/${ID}/logs/stream`;
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => line(from + at, `line ${from + at}`));

describe('the log', () => {
  const stage = useStage();
  const mount = (lines: readonly object[], options?: LogOptions) => mountLog(stage, lines, options);
  const texts = async () =>
    (await stage.page.locator('.row .text').allInnerTexts()).map((text) => text.trim());
  const lastText = async () => (await texts()).at(-1);
  const scroller = () => stage.page.locator('.scroll');

  it('holds its place until it is there', async () => {
    const log = await mount([], { api: { 'GET /jobs/{job_id}/logs': () => new Promise(() => {}) } });
    await log.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await log.getByText('printed nothing yet').count()).to.equal(0);
  });

  const empty: [string, object, string][] = [
    ['a job that runs', {}, 'The job has printed nothing yet. Lines appear here as they are printed.'],
    [
      'a job that waits',
      { waiting: true, live: false },
      'The job has not started yet. Its log appears here once it runs.',
    ],
    [
      'a job that never started',
      { live: false, notStarted: 'The job did not start: no such file' },
      'The job did not start: no such file',
    ],
    ['a job that is over', { live: false }, 'The job printed nothing.'],
  ];
  for (const [what, properties, text] of empty) {
    it(`says of ${what} that it has printed nothing`, async () => {
      const log = await mount([], { properties });
      await log.getByText(text).waitFor();
      await stage.expectSound(what);
    });
  }

  it('says that it could not be loaded, and tries again when asked', async () => {
    const log = await mount([], { api: { 'GET /jobs/{job_id}/logs': OFFLINE } });
    await log.getByText('The log could not be loaded.').waitFor();
    await stage.expectSound();
    stage.api.change({
      'GET /jobs/{job_id}/logs': { job_id: ID, attempt: 1, lines: range(0, 1), dropped: 0 },
    });
    await log.getByRole('button', { name: 'Try again' }).click();
    await stage.untilEqual(texts, ['line 0']);
  });

  it('goes on behind its tail, and leaves out what it has', async () => {
    await mount(range(0, 2));
    await stage.push(STREAM, [line(1, 'line 1'), line(2, 'line 2')], 'line');
    await stage.untilEqual(texts, ['line 0', 'line 1', 'line 2']);
  });

  it('says which lines are missing between two', async () => {
    const log = await mount([line(0, 'first'), line(5, 'sixth')]);
    await stage.untilEqual(() => log.locator('.missing').count(), 4);
    await log.getByText('line missing; the downloaded log may contain it').first().waitFor();
  });

  it('says how many lines the agent gave up', async () => {
    const log = await mount(range(0, 2), { dropped: 3 });
    await log.getByText('3 lines dropped by the agent').waitFor();
    await stage.expectSound();
  });

  it('shows colours, and no escape sequence', async () => {
    const log = await mount([line(0, '\u001b[31mred\u001b[0m and \u001b[1mbold\u001b[0m')]);
    await stage.untilEqual(texts, ['red and bold']);
    expect(await log.locator('.c1').innerText()).to.equal('red');
    expect(await log.locator('.bold').innerText()).to.equal('bold');
    const colorOf = (selector: string) =>
      log
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).color);
    expect(await colorOf('.c1')).to.not.equal(await colorOf('.row .text'));
  });

  it('takes texts as text', async () => {
    await mount([line(0, HOSTILE)]);
    await stage.untilEqual(texts, [HOSTILE]);
    expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
  });

  describe('a line that has no end yet', () => {
    const partial = (text: string, stream = 'stdout') => stage.push(STREAM, [{ stream, text }], 'partial');
    const last = () => stage.page.locator('.partials .text').allInnerTexts();

    it('is the last row, replaced in place, until its line is there', async () => {
      await mount(range(0, 2));
      await partial(' 10%|#');
      await stage.untilEqual(texts, ['line 0', 'line 1', '10%|#']);
      await partial(' 20%|##');
      await stage.untilEqual(texts, ['line 0', 'line 1', '20%|##']);
      await stage.expectSound('a progress bar');
      await stage.push(STREAM, [line(2, '100%|##########')], 'line');
      await stage.untilEqual(texts, ['line 0', 'line 1', '100%|##########']);
      expect(await last()).to.deep.equal([]);
    });

    it('is there when nothing has been printed before it, in its colours, and goes when it is taken back', async () => {
      const log = await mount([]);
      await partial('\u001b[31mPassword: \u001b[0m');
      await stage.untilEqual(texts, ['Password:']);
      expect(await log.locator('.c1').innerText()).to.equal('Password: ');
      expect(await log.getByText('printed nothing yet').count()).to.equal(0);
      await partial('');
      await log.getByText('printed nothing yet').waitFor();
    });

    it('is shown by stream, and not found by the search', async () => {
      const log = await mount([line(0, 'loss 1'), line(1, 'out')]);
      await partial('loss 2', 'stderr');
      await stage.untilEqual(last, ['loss 2']);
      await stage.page.getByLabel('Search the log').fill('loss');
      await stage.untilEqual(() => stage.page.locator('.found [role="status"]').innerText(), '1 of 1');
      await stage.untilEqual(() => log.locator('mark').allInnerTexts(), ['loss']);
      await stage.page.getByRole('group', { name: 'Stream' }).getByRole('button', { name: 'stdout' }).click();
      await stage.untilEqual(last, []);
    });

    it('moves nothing that the reader looks at, and leaves a selection alone', async () => {
      await mount(range(0, 2000));
      await stage.untilEqual(lastText, 'line 1999');
      await partial('step 1');
      await stage.untilEqual(last, ['step 1']);
      const isAtEnd = () =>
        scroller().evaluate(
          ({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight - 1,
        );
      await stage.untilEqual(isAtEnd, true);
      await scroller().evaluate((element) => element.scrollTo(0, 10_000));
      const row = stage.page.locator('.window .row .text').getByText('line 500', { exact: true });
      await row.waitFor();
      await row.selectText();
      const top = await scroller().evaluate((element) => element.scrollTop);
      await partial('step 2');
      await stage.untilEqual(last, ['step 2']);
      expect(await scroller().evaluate((element) => element.scrollTop)).to.equal(top);
      expect(await stage.page.evaluate(() => String(getSelection()))).to.equal('line 500');
      expect(await stage.page.getByRole('button', { name: 'Jump to the newest line' }).count()).to.equal(1);
    });
  });

  describe('by stream', () => {
    const both = [line(0, 'out'), line(1, 'bad', 'stderr')];
    const choose = (name: string) =>
      stage.page.getByRole('group', { name: 'Stream' }).getByRole('button', { name }).click();

    for (const [name, wanted] of [
      ['stdout', ['out']],
      ['stderr', ['bad']],
      ['All', ['out', 'bad']],
    ] as const) {
      it(`shows ${name}`, async () => {
        await mount(both);
        await choose('stderr');
        await choose(name);
        await stage.untilEqual(texts, [...wanted]);
      });
    }

    it('says that there is nothing on one', async () => {
      const log = await mount([line(0, 'out')]);
      await choose('stderr');
      await log.getByText('No lines on stderr.').waitFor();
    });
  });

  describe('its search', () => {
    const field = () => stage.page.getByLabel('Search the log');
    const found = () => stage.page.locator('.found [role="status"]').innerText();
    const lines = [line(0, 'Loss 1'), line(1, 'acc 2'), line(2, 'loss 3'), line(3, 'no')];

    it('counts what it finds, whatever the case, and marks it', async () => {
      const log = await mount(lines);
      await field().fill('LOSS');
      await stage.untilEqual(found, '1 of 2');
      await stage.untilEqual(() => log.locator('mark').allInnerTexts(), ['Loss', 'loss']);
      await stage.expectSound();
    });

    it('goes to the next and to the one before, around the end', async () => {
      const log = await mount(lines);
      await field().fill('loss');
      await stage.untilEqual(found, '1 of 2');
      await field().press('Enter');
      await stage.untilEqual(found, '2 of 2');
      await stage.untilEqual(() => log.locator('.row.current .text').innerText(), 'loss 3');
      await stage.page.getByRole('button', { name: 'Next match' }).click();
      await stage.untilEqual(found, '1 of 2');
      await field().press('Shift+Enter');
      await stage.untilEqual(found, '2 of 2');
      await stage.page.getByRole('button', { name: 'Previous match' }).click();
      await stage.untilEqual(found, '1 of 2');
    });

    it('says that it finds none', async () => {
      await mount(lines);
      await field().fill('nothing');
      await stage.untilEqual(found, 'no match');
    });

    it('finds what comes later', async () => {
      await mount(lines);
      await field().fill('loss');
      await stage.untilEqual(found, '1 of 2');
      await stage.push(STREAM, [line(4, 'loss 5')], 'line');
      await stage.untilEqual(found, '1 of 3');
    });

    it('brings a line far away into sight', async () => {
      await mount(range(0, 2000));
      await field().fill('line 1000');
      await stage.page.locator('.row.current').getByText('line 1000').waitFor();
      expect(await texts()).to.include('line 1000');
    });
  });

  describe('that is long', () => {
    const mountLong = async () => {
      const log = await mount(range(0, 2000));
      await stage.untilEqual(lastText, 'line 1999');
      return log;
    };

    it('has only the rows in sight in the page', async () => {
      const log = await mountLong();
      expect(await log.locator('.row').count()).to.be.below(150);
    });

    it('follows new lines while the reader is at the end', async () => {
      await mountLong();
      await stage.push(STREAM, range(2000, 2100), 'line');
      await stage.untilEqual(lastText, 'line 2099');
    });

    it('stays where the reader is, counts what is new, and goes there when asked', async () => {
      const log = await mountLong();
      await scroller().evaluate((element) => element.scrollTo(0, 10_000));
      await log.getByRole('button', { name: 'Jump to the newest line' }).waitFor();
      const top = await scroller().evaluate((element) => element.scrollTop);
      await stage.push(STREAM, range(2000, 2005), 'line');
      await log.getByRole('button', { name: '5 new lines' }).waitFor();
      expect(await scroller().evaluate((element) => element.scrollTop)).to.equal(top);
      await log.getByRole('button', { name: '5 new lines' }).click();
      await stage.untilEqual(lastText, 'line 2004');
      expect(await log.getByRole('button', { name: 'newest line' }).count()).to.equal(0);
    });

    it('follows again once the reader has scrolled to the end', async () => {
      await mountLong();
      await scroller().evaluate((element) => element.scrollTo(0, 10_000));
      await stage.page.getByRole('button', { name: 'Jump to the newest line' }).waitFor();
      await scroller().evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await stage.page
        .getByRole('button', { name: 'Jump to the newest line' })
        .waitFor({ state: 'detached' });
      await stage.push(STREAM, range(2000, 2001), 'line');
      await stage.untilEqual(lastText, 'line 2000');
    });
  });

  it('shows the beginning of a very long line, and the rest when asked or when a match is there', async () => {
    const log = await mount([line(0, `${'x'.repeat(15_000)} needle`)]);
    await log.getByRole('button', { name: 'show all 15,007 characters' }).click();
    await stage.untilEqual(async () => (await texts())[0]!.length, 15_007);
    const again = await mount([line(0, `${'x'.repeat(15_000)} needle`)]);
    await again.getByLabel('Search the log').fill('needle');
    const isInView = () =>
      again.locator('mark').evaluate((mark) => {
        const { left, right } = mark.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
      });
    await stage.untilEqual(isInView, true);
  });

  it('wraps long lines when asked, and remembers it', async () => {
    const log = await mount([line(0, 'x'.repeat(2000))]);
    const isWider = () => scroller().evaluate((element) => element.scrollWidth > element.clientWidth);
    await stage.untilEqual(isWider, true);
    const wrap = log.getByRole('button', { name: 'Wrap long lines' });
    await wrap.click();
    await stage.untilEqual(isWider, false);
    expect(await wrap.getAttribute('aria-pressed')).to.equal('true');
    expect(await stage.page.evaluate(() => localStorage.getItem('svc.log.wrap'))).to.equal('on');
  });

  it('shows the times of lines when asked', async () => {
    const log = await mount(range(0, 1));
    const times = log.getByRole('button', { name: 'Show times' });
    const gutter = () => log.locator('.gutter').first().innerText();
    await stage.untilEqual(async () => /\d\d:\d\d:\d\d/.test(await gutter()), true);
    await times.click();
    await stage.untilEqual(async () => /:/.test(await gutter()), false);
    expect(await times.getAttribute('aria-pressed')).to.equal('false');
  });

  it('takes rows that are scrolled out of sight out of a selection, whatever lines they show then', async () => {
    await mount(range(0, 2000));
    await stage.untilEqual(lastText, 'line 1999');
    await scroller().evaluate((element) => element.scrollTo(0, 10_000));
    const row = stage.page.locator('.window .row .text').getByText('line 500', { exact: true });
    await row.waitFor();
    await row.selectText();
    await scroller().evaluate((element) => element.scrollTo(0, 20_000));
    await stage.page.locator('.window .row .text').getByText('line 1000', { exact: true }).waitFor();
    expect(await stage.page.evaluate(() => String(getSelection()))).to.equal('');
  });

  it('gives the texts of selected rows, without their numbers', async () => {
    const log = await mount([
      line(0, 'first'),
      line(1, '\u001b[31msecond\u001b[0m', 'stderr'),
      line(2, 'third'),
    ]);
    await stage.untilEqual(texts, ['first', 'second', 'third']);
    await log.locator('.window').selectText();
    const selected = await stage.page.evaluate(() => String(getSelection()));
    expect(selected.split('\n').filter(Boolean)).to.deep.equal(['first', 'second', 'third']);
  });

  it('shows another attempt from its beginning', async () => {
    const log = await mount(range(0, 2), { properties: { attempt: 2, attempts: 2 } });
    await stage.untilEqual(texts, ['line 0', 'line 1']);
    await log.getByLabel('Attempt', { exact: true }).selectOption('1');
    expect(await stage.heard()).to.deep.equal([['svc-attempt', 1]]);
    stage.api.change({
      'GET /jobs/{job_id}/logs': { job_id: ID, attempt: 1, lines: [line(0, 'of the first')], dropped: 0 },
    });
    await stage.change({ attempt: 1, live: false });
    await stage.untilEqual(texts, ['of the first']);
  });

  it('says why it could not be downloaded', async () => {
    await mount(range(0, 1), { api: { 'GET /jobs/{job_id}/logs/download': OFFLINE } });
    const said = stage.page.evaluate(
      () =>
        new Promise((resolve) =>
          window.addEventListener(
            'svc-toast',
            (event) => resolve((event as CustomEvent<{ text: string }>).detail.text),
            { once: true },
          ),
        ),
    );
    await stage.page.getByRole('button', { name: 'Download the whole log' }).click();
    expect(await said).to.match(/^The server does not answer/);
  });

  for (const [where, viewport] of Object.entries({ 'a desk': DESK, 'a phone': PHONE })) {
    it(`fits ${where} with very long lines and all notes`, async () => {
      const lines = [line(0, LONG_NAME.repeat(30)), line(2, '\u001b[42mgreen', 'stderr')];
      await mount(lines, {
        dropped: 5,
        properties: { attempts: 12, attempt: 12, line: 7 },
        viewport,
      });
      await stage.page.getByLabel('Search the log').fill('a');
      await stage.untilEqual(async () => (await stage.page.locator('mark').count()) > 0, true);
      await stage.expectSound(where);
    });
  }
});
