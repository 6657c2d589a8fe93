import { expect } from 'chai';
import { OFFLINE, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, idOf, job, node, run } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

const READER: ApiTable = { 'GET /auth/whoami': { name: 'me', scope: 'read', can_write: false } };

/** As the server searches: words of the name, the end of the id, or exactly the name. */
const fits =
  (query: URLSearchParams) =>
  ({ id, name }: { id: string; name: string }): boolean => {
    const [q, exact] = [query.get('q') ?? '', query.get('name')];
    return exact === null ? name.includes(q) || id.endsWith(q) : name === exact;
  };

describe('the command palette', () => {
  const stage = useStage();
  // A theme that changes fades, and a colour in between has too little contrast.
  before(() => stage.page.emulateMedia({ reducedMotion: 'reduce' }));
  const field = () => stage.page.getByRole('combobox', { name: /^Go to a page/ });
  const options = () => stage.page.locator('svc-palette').getByRole('option');
  const labels = () => stage.page.locator('svc-palette .label').allInnerTexts();
  const heading = (name: string) => stage.page.getByRole('heading', { level: 1, name, exact: true });
  const path = () => new URL(stage.page.url()).pathname;

  const open = async (api: ApiTable = {}, address = '/jobs') => {
    await stage.mountApp({ api, address });
    await heading('Jobs').waitFor();
    await stage.page.keyboard.press('Control+k');
    await field().waitFor();
  };
  const server = (names: string[]): ApiTable => ({
    'GET /jobs': ({ query }: ApiRequest) => ({
      items: names.map((name, at) => job(at, { name })).filter(fits(query)),
      next_before: null,
    }),
    'GET /runs': ({ query }: ApiRequest) => ({
      items: names.map((name, at) => run(at, { name })).filter(fits(query)),
    }),
    'GET /nodes': { items: names.map((name, at) => node(at, { name })) },
  });

  it('offers the pages and the actions before anything is typed', async () => {
    await open();
    const all = await labels();
    expect(all).to.include.members([
      'Jobs',
      'Runs',
      'Events',
      'Settings',
      'Tokens',
      'Submit a job',
      'Dark theme',
    ]);
    await stage.expectSound('light');
    await stage.page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await stage.expectSound('dark');
    await stage.page.setViewportSize(PHONE);
    await stage.expectSound('phone');
  });

  it('offers what can be done with the job of the page, and asks as its button does', async () => {
    const id = idOf('job', 1);
    const here = async (api: ApiTable = {}) => {
      await stage.mountApp({
        api: {
          'GET /jobs/{job_id}': job(1, { name: 'mine', status: 'RUNNING' }),
          'GET /jobs/{job_id}/runs': { items: [] },
          'GET /jobs/{job_id}/attempts': { items: [] },
          'GET /jobs/{job_id}/logs': { job_id: id, attempt: 1, lines: [], dropped: 0 },
          ...api,
        },
        address: `/jobs/${id}`,
      });
      await heading('mine').waitFor();
      await stage.page.keyboard.press('Control+k');
      await field().fill('this job');
    };
    await here();
    await stage.untilEqual(labels, ['Resubmit this job with changes', 'Cancel this job']);
    await field().fill('kill');
    await stage.untilEqual(labels, ['Cancel this job']);
    await field().press('Enter');
    await stage.page.getByRole('heading', { name: /^Cancel .*mine/ }).waitFor();
    await stage.page.getByRole('button', { name: 'Keep it' }).click();
    await here(READER);
    await stage.untilEqual(labels, []);
  });

  it('takes what is typed before it is there', async () => {
    await stage.mountApp({ address: '/jobs' });
    await heading('Jobs').waitFor();
    await stage.page.evaluate(() => {
      const press = (key: string, ctrlKey = false) =>
        document.body.dispatchEvent(
          new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true, composed: true }),
        );
      press('k', true);
      for (const key of ['g', 't', 'x', 'Backspace', '1']) press(key);
    });
    await field().waitFor();
    await stage.untilEqual(() => field().inputValue(), 'gt1');
    await stage.page.keyboard.type('2');
    expect(await field().inputValue()).to.equal('gt12');
    expect(path()).to.equal('/jobs');
  });

  it('offers a reader no writes', async () => {
    await open(READER);
    const all = await labels();
    for (const write of ['Submit a job', 'Create a token', 'Tokens']) expect(all).not.to.include(write);
  });

  it('goes to a page by its name and Enter, and is closed then', async () => {
    await open();
    await field().fill('sett');
    await stage.page.keyboard.press('Enter');
    await heading('Settings').waitFor();
    expect(await stage.page.getByRole('dialog').count()).to.equal(0);
  });

  it('goes through what it shows by arrows, from the end to the begin too', async () => {
    await open();
    const chosen = () => stage.page.locator('[aria-selected="true"]').innerText();
    const all = await labels();
    await stage.page.keyboard.press('ArrowUp');
    await stage.untilEqual(async () => (await chosen()).startsWith(all.at(-1)!), true);
    await stage.page.keyboard.press('ArrowDown');
    await stage.untilEqual(async () => (await chosen()).startsWith(all[0]!), true);
    expect(await field().getAttribute('aria-activedescendant')).to.equal('entry-0');
  });

  it('sets the theme', async () => {
    await open();
    await field().fill('dark');
    await options().first().click();
    await stage.untilEqual(
      () => stage.page.evaluate(() => document.documentElement.dataset['theme']),
      'dark',
    );
    await stage.untilEqual(
      () => stage.page.getByRole('button', { name: 'Dark theme' }).getAttribute('aria-pressed'),
      'true',
    );
  });

  it('shows the one of exactly that name first, however many newer ones begin with it', async () => {
    const grid = Array.from({ length: 12 }, (_, at) => `grid-1${at}`);
    await open(server(['a grid-1', ...grid, 'grid-1']));
    await field().fill('grid-1');
    await stage.untilEqual(async () => (await labels()).filter((label) => label === 'grid-1').length, 3);
    expect((await labels())[0]).to.equal('grid-1');
  });

  it('finds jobs, runs and nodes by a part of their name', async () => {
    await open(server(['resnet-50', 'bert']));
    await field().fill('net-5');
    await stage.untilEqual(labels, ['resnet-50', 'resnet-50', 'resnet-50']);
    expect(await stage.page.locator('svc-palette .group').allInnerTexts()).to.deep.equal([
      'Jobs',
      'Runs',
      'Nodes',
    ]);
    await options().nth(1).click();
    await stage.untilEqual(path, `/runs/${idOf('run', 0)}`);
    // The page of the run is not what this test plays.
    stage.api.mistakes.length = 0;
  });

  it('leads to the list of all that fit where it shows only some of them', async () => {
    await open(server(Array.from({ length: 9 }, (_, at) => `grid-${at}`)));
    await field().fill('grid');
    const all = ['All jobs matching “grid”', 'All runs matching “grid”', 'All nodes matching “grid”'];
    await stage.untilEqual(async () => (await labels()).filter((label) => label.startsWith('All ')), all);
    expect((await labels())[8]).to.equal(all[0]);
    await field().fill('grid-1');
    await stage.untilEqual(labels, ['grid-1', 'grid-1', 'grid-1']);
    await field().fill('grid');
    await options().filter({ hasText: all[0]! }).click();
    await stage.untilEqual(() => new URL(stage.page.url()).search, '?q=grid');
    expect(path()).to.equal('/jobs');
  });

  it('finds a job or a run by its id, or by the end of it that the console shows', async () => {
    await open(server(['zero', 'one']));
    for (const [text, found] of [
      [idOf('job', 1), ['one']],
      [idOf('run', 0), ['zero']],
      ['000001', ['one', 'one', 'one']],
    ] as const) {
      await field().fill(text);
      await stage.untilEqual(labels, [...found]);
    }
  });

  it('finds the one of exactly that name, however many newer ones have the words', async () => {
    const newer = Array.from({ length: 20 }, (_, at) => `grid-1${at}`);
    await open({
      ...server([]),
      'GET /runs': ({ query }: ApiRequest) => ({
        items: query.has('name')
          ? [run(1, { name: 'grid-1' })]
          : newer.map((name, at) => run(30 + at, { name })),
      }),
    });
    await field().fill('grid-1');
    await stage.untilEqual(async () => (await labels())[0], 'grid-1');
  });

  it('says that nothing has an id, or the words', async () => {
    await open();
    for (const text of [idOf('run', 1), 'zzz']) {
      await field().fill(text);
      await stage.page.getByText('Nothing has these words').waitFor();
      expect(await options().count()).to.equal(0);
    }
    await stage.expectSound();
  });

  it('takes names as text, and cuts long ones', async () => {
    await open(server([HOSTILE, LONG_NAME]));
    await field().fill('img');
    await stage.untilEqual(async () => (await labels())[0], HOSTILE);
    await field().fill('very');
    await stage.untilEqual(async () => (await labels())[0], LONG_NAME);
    expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
    await stage.page.setViewportSize(PHONE);
    await stage.expectSound('phone');
  });

  it('still goes to pages while the server does not answer, and says so', async () => {
    await open();
    stage.api.change({ 'GET /jobs': OFFLINE, 'GET /runs': OFFLINE, 'GET /nodes': OFFLINE });
    await field().fill('even');
    await stage.page.getByText('Jobs, runs and nodes could not be searched.').waitFor();
    expect(await labels()).to.deep.equal(['Events']);
    await stage.expectSound();
  });

  it('begins anew each time, and gives the focus back', async () => {
    await open();
    await field().fill('something');
    await stage.page.keyboard.press('Escape');
    await stage.page.getByRole('button', { name: /^Search Ctrl/ }).click();
    expect(await field().inputValue()).to.equal('');
    await stage.page.keyboard.press('Escape');
    await stage.untilEqual(
      () => stage.page.locator('svc-nav').evaluate((nav) => nav.shadowRoot?.activeElement?.className ?? ''),
      'find',
    );
  });
});

describe('the keys of the console', () => {
  const stage = useStage();
  // A theme that changes fades, and a colour in between has too little contrast.
  before(() => stage.page.emulateMedia({ reducedMotion: 'reduce' }));
  const heading = (name: string) => stage.page.getByRole('heading', { level: 1, name, exact: true });
  const press = (...keys: string[]) =>
    keys.reduce((done, key) => done.then(() => stage.page.keyboard.press(key)), Promise.resolve());
  const focused = () =>
    stage.page.evaluate(() => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      return at?.getAttribute('type') ?? '';
    });
  const open = async () => {
    await stage.mountApp();
    await heading('Jobs').waitFor();
  };

  it('go to a page by g and a letter', async () => {
    await open();
    await press('g', 'n');
    await heading('Nodes').waitFor();
    await press('g', 'e');
    await heading('Events').waitFor();
  });

  it('find the search of the page by /, and type there what they mean elsewhere', async () => {
    await open();
    await press('/');
    await stage.untilEqual(focused, 'search');
    await press('g', 'n', '?', '/');
    await stage.untilEqual(
      () => stage.page.locator('svc-jobs-page input[type="search"]').inputValue(),
      'gn?/',
    );
    expect(await stage.page.getByRole('dialog').count()).to.equal(0);
  });

  it('open the palette by / on a page without a search', async () => {
    await stage.mountApp({ address: '/nothing' });
    await heading('Page not found')
      .or(stage.page.getByRole('heading', { name: 'Page not found' }))
      .first()
      .waitFor();
    await press('/');
    await stage.page.getByRole('combobox').waitFor();
  });

  it('are shown by ?, those of the pages too', async () => {
    await open();
    await press('?');
    const dialog = stage.page.getByRole('dialog', { name: 'Keys' });
    await dialog.getByText('Search this page').waitFor();
    await dialog.getByText('Events', { exact: true }).waitFor();
    await stage.expectSound('light');
    await stage.page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await stage.page.setViewportSize(PHONE);
    await stage.expectSound('dark, on a phone');
    await press('g', 'n', 'Escape');
    expect(new URL(stage.page.url()).pathname).to.equal('/jobs');
  });

  it('do nothing to somebody who is not signed in', async () => {
    await stage.mountApp({ token: null });
    await stage.page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    await stage.page.locator('h1').click();
    await press('?', 'Control+k', 'g', 'n');
    expect(await stage.page.getByRole('dialog').count()).to.equal(0);
    expect(new URL(stage.page.url()).pathname).to.equal('/jobs');
  });

  it('can be turned off where they are single, and on again', async () => {
    await stage.mountApp({ address: '/settings' });
    const setting = stage.page.getByRole('switch', { name: 'Single keys' });
    await setting.click();
    await press('g', 'n', '?');
    expect(await stage.page.getByRole('dialog').count()).to.equal(0);
    await heading('Settings').waitFor();
    await setting.click();
    await press('g', 'n');
    await heading('Nodes').waitFor();
  });
});
