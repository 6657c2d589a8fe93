import { expect } from 'chai';
import { OFFLINE } from './harness/fake-api.js';
import { MINUTE, NOW } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('the elements that pages are made of', () => {
  const stage = useStage();

  describe('svc-status', () => {
    const states: [value: string, label: string][] = [
      ['QUEUED', 'Queued'],
      ['DISPATCHING', 'Starting'],
      ['RUNNING', 'Running'],
      ['SUCCEEDED', 'Succeeded'],
      ['FAILED', 'Failed'],
      ['CANCELLED', 'Cancelled'],
      ['LOST', 'Lost'],
      ['IMPORTED', 'Imported'],
      ['ONLINE', 'Online'],
      ['OFFLINE', 'Offline'],
      ['DRAINING', 'Draining'],
      ['ok', 'Healthy'],
      ['stale', 'Stale'],
      ['info', 'Info'],
      ['warning', 'Warning'],
      ['critical', 'Critical'],
    ];
    for (const theme of ['light', 'dark'] as const) {
      it(`says each state by a word and a shape, legible in ${theme} colours`, async () => {
        const shapes = new Set<string>();
        for (const [value, label] of states) {
          const status = await stage.mount('svc-status', { properties: { value }, theme });
          await status.getByText(label, { exact: true }).waitFor();
          shapes.add(await status.locator('svg').evaluate((svg) => svg.innerHTML));
          if (value !== value.toLowerCase()) await stage.expectSound(value);
        }
        expect(shapes.size).to.equal(states.length);
      });
    }

    it('shows a state that it does not know as it is', async () => {
      const status = await stage.mount('svc-status', { properties: { value: 'PAUSED' } });
      await status.getByText('PAUSED').waitFor();
    });
  });

  describe('svc-progress', () => {
    const cases: [
      string,
      { step: number | null; max: number | null; status?: string },
      string,
      string | null,
    ][] = [
      ['nothing yet', { step: null, max: 10 }, '–', null],
      ['the step alone', { step: 1234, max: null }, 'step 1,234', null],
      ['the step alone of a maximum that is none', { step: 5, max: 0 }, 'step 5', null],
      ['the beginning', { step: 0, max: 10 }, '0 / 10 0 %', '0'],
      ['a part, never more than it is', { step: 999, max: 1000 }, '999 / 1,000 99 %', '99'],
      ['the end', { step: 10, max: 10, status: 'SUCCEEDED' }, '10 / 10 100 %', '100'],
      [
        'the end of steps that are counted from 0',
        { step: 9, max: 10, status: 'SUCCEEDED' },
        '9 / 10 100 %',
        '100',
      ],
      [
        'the last step but one of a run that failed',
        { step: 9, max: 10, status: 'FAILED' },
        '9 / 10 90 %',
        '90',
      ],
      ['the last step of a run that goes on', { step: 10, max: 10 }, '10 / 10 99 %', '99'],
      ['more than the maximum', { step: 15, max: 10 }, '15 / 10', null],
      ['a step below zero', { step: -5, max: 10 }, '-5 / 10 0 %', '0'],
    ];
    for (const [what, properties, text, percent] of cases) {
      it(`shows ${what}`, async () => {
        const progress = await stage.mount('svc-progress', { properties });
        await stage.untilEqual(
          async () => (await progress.locator('p').innerText()).replace(/\s+/g, ' ').trim(),
          text,
        );
        const bar = progress.getByRole('progressbar');
        expect(await bar.count()).to.equal(percent === null ? 0 : 1);
        if (percent !== null) expect(await bar.getAttribute('aria-valuenow')).to.equal(percent);
        await stage.expectSound(what);
      });
    }
  });

  describe('svc-time', () => {
    const cases: [string, Record<string, unknown>, RegExp][] = [
      ['nothing', { from: null }, /^–$/],
      ['how long ago', { from: NOW - 5 * MINUTE }, /^5m ago$/],
      ['what has just been', { from: NOW + 60 * MINUTE }, /^now$/],
      ['how long it took', { elapsed: true, from: NOW - 3 * MINUTE, to: NOW }, /^3m 00s$/],
      ['how long it takes already', { elapsed: true, from: NOW - 3 * MINUTE, to: null }, /^3m \d\ds$/],
      ['days', { from: NOW - 50 * 60 * MINUTE }, /^2d ago$/],
    ];
    for (const [what, properties, text] of cases) {
      it(`shows ${what}`, async () => {
        const time = await stage.mount('svc-time', { properties });
        await stage.untilEqual(
          async () => text.test(await time.evaluate((element) => element.shadowRoot!.textContent!.trim())),
          true,
        );
      });
    }

    it('ticks, and stands still once it is over', async () => {
      const time = await stage.mount('svc-time', {
        properties: { elapsed: true, from: NOW, to: null },
      });
      const read = () => time.evaluate((element) => element.shadowRoot!.textContent!.trim());
      await stage.untilEqual(read, '2s');
      await stage.change({ to: NOW + 60 * MINUTE, from: NOW });
      await stage.untilEqual(read, '1h 00m');
    });

    it('has the full time in its title once it is pointed at', async () => {
      const time = await stage.mount('svc-time', {
        properties: { elapsed: true, from: NOW - MINUTE, to: NOW },
      });
      await time.locator('time').hover();
      const title = await time.locator('time').getAttribute('title');
      expect(title).to.match(/^.*\d\d:\d\d:\d\d to .*\d\d:\d\d:\d\d$/);
    });
  });

  describe('svc-copy', () => {
    it('copies its text, says so, and offers it again', async () => {
      await stage.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const copy = await stage.mount('svc-copy', {
        properties: { text: 'two\nlines', label: 'Copy the id' },
      });
      await copy.getByRole('button', { name: 'Copy the id' }).click();
      await copy.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await stage.page.evaluate(() => navigator.clipboard.readText())).to.equal('two\nlines');
      await copy.getByRole('button', { name: 'Copy the id' }).waitFor();
      await stage.expectSound();
    });
  });

  describe('svc-filters', () => {
    it('fires what was chosen, and shows what is on', async () => {
      const choices = [
        { value: null, label: 'All', count: 3 },
        { value: 'a', label: 'A', count: 0 },
        { value: 'b', label: 'B' },
      ];
      const filters = await stage.mount('svc-filters', {
        properties: { label: 'Filter by kind', choices, value: 'a' },
        events: ['svc-filter'],
      });
      const pressed = filters.locator('[aria-pressed="true"]');
      await stage.untilEqual(
        async () => (await pressed.allInnerTexts()).map((text) => text.replace(/\s/g, '')),
        ['A0'],
      );
      await filters.getByRole('button', { name: 'B' }).click();
      await filters.getByRole('button', { name: 'All' }).click();
      expect(await stage.heard()).to.deep.equal([
        ['svc-filter', 'b'],
        ['svc-filter', null],
      ]);
      await stage.expectSound();
    });
  });

  describe('svc-skeleton', () => {
    it('shows nothing in the first moment, then as many rows as are wanted', async () => {
      const skeleton = await stage.mount('svc-skeleton', { properties: { rows: 3 } });
      expect(await skeleton.locator('div').count()).to.equal(3);
      await stage.untilEqual(() => skeleton.evaluate((element) => getComputedStyle(element).opacity), '1');
      expect(await skeleton.getByText('Loading').count()).to.equal(1);
    });
  });

  describe('svc-nav', () => {
    const connections: [string, string][] = [
      ['live', 'Live'],
      ['connecting', 'Connecting'],
      ['waiting', 'Reconnecting'],
      ['paused', 'Paused'],
      ['ended', 'Closed'],
      ['failed', 'Not live'],
    ];
    for (const [connection, label] of connections) {
      it(`says that the live stream is ${connection}`, async () => {
        const nav = await stage.mount('svc-nav', { properties: { connection, pages: [], who: null } });
        await nav.getByRole('status').getByText(label, { exact: true }).waitFor();
        expect(await nav.getByRole('status').getAttribute('title')).to.have.length.greaterThan(10);
      });
    }
  });

  it('tells a page that the server does not answer, and not the browser’s own words', async () => {
    const page = await stage.mount('svc-nodes-page', { api: { 'GET /nodes': OFFLINE } });
    await page.getByText('The server does not answer. Is it running, and is this machine online?').waitFor();
  });
});
