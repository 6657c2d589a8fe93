import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import { Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { plainCheckpoint } from './harness/checkpoint-records.js';
import { evaluation, event, idOf, job, run } from './harness/records.js';
import { signInParts } from './harness/sign-in.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const MOST = 990;
const PAGE_SIZE = 200;

/** A list of the server, a page at a time, newest first. */
function listOf<T extends { readonly id: string; readonly created_at: number }>(
  make: (number: number) => T,
  most = MOST,
) {
  const all = Array.from({ length: most }, (_, at) => make(most - at));
  return ({ query }: ApiRequest) => {
    const before = query.get('before');
    const at = all.findIndex(({ id, created_at: at }) => id === before || String(at) === before);
    const items = all.slice(at + 1, at + 1 + PAGE_SIZE);
    return { items, next_before: items.length < PAGE_SIZE ? null : items.at(-1)!.created_at };
  };
}

const itemsOf = (list: ReturnType<typeof listOf>) => (request: ApiRequest) => ({
  items: list(request).items,
});

const JOBS: ApiTable = { 'GET /jobs': listOf((number) => job(number)) };
const RUNS: ApiTable = {
  'GET /runs': itemsOf(listOf((number) => run(number))),
  'POST /runs/metrics:query': { series: {} },
};
const LISTS: [name: string, table: ApiTable][] = [
  ['jobs', JOBS],
  ['events', { 'GET /events': itemsOf(listOf((number) => event(number))) }],
  [
    'checkpoints',
    {
      'GET /checkpoints': itemsOf(listOf((number) => plainCheckpoint(number))),
      'GET /checkpoints/compare': new Refusal(422, 'validation_failed', 'No metric is primary.'),
      'GET /runs/{run_id}': run(1),
    },
  ],
  [
    'evaluations',
    {
      'GET /evaluations': itemsOf(listOf((number) => evaluation(number, { status: 'SUCCEEDED' }))),
      'GET /runs/{run_id}': run(1),
    },
  ],
];

describe('going back', () => {
  const stage = useStage();
  const { heading, address } = signInParts(stage);
  const list = () => stage.page.locator('svc-list');
  const scrolled = () => stage.page.evaluate(() => window.scrollY);
  const scroll = async (top: number): Promise<void> => {
    await stage.page.evaluate((to) => window.scrollTo(0, to), top);
    await stage.untilEqual(scrolled, top);
  };
  const grid = () => stage.page.getByRole('grid', { name: 'Runs' });
  const gridTop = () => grid().evaluate((element) => element.scrollTop);
  const open = async (at: string, api: ApiTable): Promise<void> => {
    await stage.mountApp({ address: at, api });
    await list().locator('.items').waitFor();
  };
  const away = async (): Promise<void> => {
    await stage.page.locator('svc-nav').getByRole('link', { name: 'Nodes' }).first().click();
    await heading('Nodes').waitFor();
  };
  /** The text at the middle of the window; '' while the rows there are not drawn. */
  const seen = () =>
    stage.page.evaluate(() => {
      let element = document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2);
      while (element?.shadowRoot) {
        const inner = element.shadowRoot.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2);
        if (inner === null || inner === element) break;
        element = inner;
      }
      if (element?.matches('.items, .chunk')) return '';
      return (element?.getRootNode() as ShadowRoot).host?.textContent + (element?.textContent ?? '');
    });

  for (const [name, api] of LISTS)
    for (const [look, viewport] of [
      ['a desk', DESK],
      ['a phone', PHONE],
    ] as const)
      it(`and forward finds the list of ${name} as it was (${look})`, async () => {
        await open(`/${name}`, api);
        await stage.page.setViewportSize(viewport);
        await scroll(2500);
        await until(async () => (await seen()).trim() !== '');
        const before = await seen();
        await away();
        expect(await scrolled()).to.equal(0);
        await stage.page.goBack();
        await list().locator('.items').waitFor();
        await stage.untilEqual(seen, before);
        // What comes later above the list moves the page, and not what is read.
        expect(await scrolled()).to.be.closeTo(2500, 50);
        await stage.page.goForward();
        await heading('Nodes').waitFor();
        expect(await scrolled()).to.equal(0);
      });

  it('finds a list that was loaded page by page, and reads its pages anew, once', async () => {
    await open('/jobs', JOBS);
    const rows = () => stage.page.getByRole('table').getAttribute('aria-rowcount');
    await until(async () => {
      await stage.page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      return (await rows()) === String(MOST + 1);
    });
    const height = await stage.page.evaluate(() => document.documentElement.scrollHeight);
    await scroll(height - 2000);
    const before = await seen();
    await away();
    const asked = stage.api.count('GET /jobs?');
    const changed = listOf((number) => job(number, { name: `again-${number}` }));
    stage.api.change({ 'GET /jobs': changed });
    await stage.page.goBack();
    await list().locator('.items').waitFor();
    await stage.untilEqual(scrolled, height - 2000);
    await stage.untilEqual(async () => (await seen()).includes('again-'), true);
    expect(before).not.to.contain('again-');
    expect(stage.api.count('GET /jobs?')).to.equal(asked + Math.ceil(MOST / PAGE_SIZE));
  });

  it('shows the names at once that had been read', async () => {
    await open('/evaluations', LISTS.find(([name]) => name === 'evaluations')![1]);
    const named = () => stage.page.getByRole('link', { name: 'run run-1', exact: true }).count();
    await until(async () => (await named()) === PAGE_SIZE);
    await away();
    stage.api.change({ 'GET /runs/{run_id}': new Refusal(404, 'not_found', 'no run') });
    await stage.page.goBack();
    await stage.page.locator('svc-evaluations-page').waitFor();
    await stage.untilEqual(named, PAGE_SIZE);
  });

  it('shows no other place first', async () => {
    await open('/jobs', JOBS);
    await scroll(2500);
    await away();
    await stage.page.evaluate(() => {
      const places: string[] = ((window as unknown as { places: string[] }).places = []);
      const painted = new MessageChannel();
      painted.port1.onmessage = () => {
        const list = document.querySelector('svc-app')!.shadowRoot!.querySelector('svc-jobs-page');
        if (list) places.push(`${window.scrollY}`);
        if (places.length < 20) requestAnimationFrame(() => painted.port2.postMessage(null));
      };
      requestAnimationFrame(() => painted.port2.postMessage(null));
    });
    await stage.page.goBack();
    const places = () => stage.page.evaluate(() => (window as unknown as { places: string[] }).places);
    await until(async () => (await places()).length === 20);
    expect([...new Set(await places())]).to.deep.equal(['2500']);
  });

  it('finds where the reader went when they had been there again', async () => {
    await open('/jobs', JOBS);
    await scroll(2500);
    await away();
    await stage.page.goBack();
    await stage.untilEqual(scrolled, 2500);
    await stage.page.mouse.move(600, 400);
    await stage.page.mouse.wheel(0, -500);
    await stage.untilEqual(scrolled, 2000);
    await away();
    await stage.page.goBack();
    await stage.untilEqual(scrolled, 2000);
  });

  it('is not what a link does: it opens the list at its top, with the focus on the page', async () => {
    await open('/jobs', JOBS);
    await scroll(2500);
    await away();
    await stage.page.locator('svc-nav').getByRole('link', { name: 'Jobs' }).first().click();
    await list().locator('.items').waitFor();
    expect(await scrolled()).to.equal(0);
    const focused = () =>
      stage.page.evaluate(() => document.querySelector('svc-app')!.shadowRoot!.activeElement?.id);
    expect(await focused()).to.equal('main');
    await stage.page.goBack();
    await stage.page.goBack();
    await stage.untilEqual(scrolled, 2500);
    expect(await focused()).to.equal('main');
  });

  it('to another filter finds what it had shown', async () => {
    await open('/jobs', JOBS);
    await scroll(2500);
    await stage.page.evaluate(() => window.scrollTo(0, 40));
    await stage.page.getByRole('button', { name: /^Failed/ }).click();
    await stage.untilEqual(address, '/jobs?status=FAILED');
    await scroll(1500);
    await stage.page.goBack();
    await stage.untilEqual(address, '/jobs');
    await stage.untilEqual(scrolled, 40);
    await stage.page.goForward();
    await stage.untilEqual(scrolled, 1500);
  });

  describe('to the table of runs', () => {
    const scrollGrid = async (top: number): Promise<void> => {
      await grid().evaluate((element, to) => (element.scrollTop = to), top);
      await stage.untilEqual(gridTop, top);
    };
    const name = (number: number) => stage.page.getByRole('link', { name: `run-${number}`, exact: true });

    it('finds its place, however far it was loaded', async () => {
      await open('/runs?columns=status', RUNS);
      await name(MOST).waitFor();
      await until(async () => {
        await grid().press('End');
        return (await grid().getAttribute('aria-rowcount')) === String(MOST + 1);
      });
      await scrollGrid(30_000);
      await name(MOST - 790).waitFor();
      await away();
      await stage.page.goBack();
      await name(MOST - 790).waitFor();
      expect(await gridTop()).to.equal(30_000);
    });

    it('finds each order where it was left; another order, group or filter begins at its top', async () => {
      await open('/runs?columns=status,created', RUNS);
      await name(MOST).waitFor();
      await scrollGrid(3000);
      // By hand, because Playwright scrolls before it clicks.
      await stage.page
        .getByRole('columnheader', { name: 'Created' })
        .getByRole('button')
        .evaluate((button: HTMLElement) => button.click());
      await stage.untilEqual(gridTop, 0);
      await scrollGrid(2000);
      await stage.page.getByLabel('Group').selectOption({ label: 'By status' });
      await stage.untilEqual(gridTop, 0);
      await scrollGrid(1000);
      await stage.page.getByLabel('Search runs').fill('run');
      await stage.untilEqual(gridTop, 0);
      await stage.page.goBack();
      await stage.untilEqual(gridTop, 2000);
      await stage.page.goBack();
      await stage.untilEqual(gridTop, 3000);
    });

    it('keeps the place when runs are selected and groups are closed', async () => {
      await open('/runs?columns=status', RUNS);
      await name(MOST).waitFor();
      await scrollGrid(1900);
      await stage.page.getByLabel(`Select run-${MOST - 52}`).check();
      await stage.page.getByText('1 selected').waitFor();
      expect(await gridTop()).to.equal(1900);
      expect(address()).to.contain(`selected=${idOf('run', MOST - 52)}`);
    });
  });
});
