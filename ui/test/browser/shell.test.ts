import { expect } from 'chai';
import { PAGES } from '../../src/pages/pages.js';
import { OFFLINE, Refusal } from './harness/fake-api.js';
import { job, run } from './harness/records.js';
import { signInParts, who } from './harness/sign-in.js';
import { PHONE, useStage } from './harness/stage.js';

const REFUSED = new Refusal(401, 'unauthorized', 'This token is not valid.');

/** In the navigation, in their order. */
const OWN_ENTRIES = PAGES.flatMap(({ navigation }) => navigation?.label ?? []);
const withOwn = (...added: string[]) => [...OWN_ENTRIES.slice(0, -2), ...added, ...OWN_ENTRIES.slice(-2)];

describe('the console', () => {
  const stage = useStage();
  const { heading, field, address, storedToken } = signInParts(stage);

  describe('to somebody who is not signed in', () => {
    it('asks for a token, and where to find one', async () => {
      await stage.mountApp({ token: null });
      await field().waitFor();
      await stage.page.getByText('~/.svc', { exact: true }).waitFor();
      expect(stage.api.count('GET /jobs')).to.equal(0);
      await stage.expectSound();
    });

    it('opens the page of the address once the token is accepted', async () => {
      await stage.mountApp({ address: '/runs?status=FAILED', token: null });
      await field().fill('  svc_typed ');
      await stage.page.keyboard.press('Enter');
      await heading('Runs').waitFor();
      expect(address()).to.equal('/runs?status=FAILED');
      expect(await storedToken()).to.equal('svc_typed');
    });

    const refusals: [string, object, string][] = [
      ['a token that is not valid', REFUSED, 'This token is not valid.'],
      ['a server that does not answer', OFFLINE, 'The server does not answer.'],
      [
        'the token of an agent',
        who({ name: 'gpu-1', scope: 'agent', can_write: false }),
        'The token "gpu-1" has the scope agent; the console needs read or write.',
      ],
      [
        'the token of an SDK',
        who({ name: 'lab', scope: 'sdk', can_write: false }),
        'The token "lab" has the scope sdk; the console needs read or write.',
      ],
    ];
    for (const [what, answer, text] of refusals) {
      it(`says why it does not take ${what}, and keeps no token`, async () => {
        await stage.mountApp({ token: null, api: { 'GET /auth/whoami': answer } });
        await field().fill('svc_wrong');
        await stage.page.keyboard.press('Enter');
        await stage.page.getByText(text).waitFor();
        expect(await storedToken()).to.equal(null);
        await stage.expectSound();
      });
    }

    it('sends no request for an empty token', async () => {
      await stage.mountApp({ token: null });
      await field().fill('   ');
      await stage.page.keyboard.press('Enter');
      expect(stage.api.count('GET /auth')).to.equal(0);
    });

    it('covers the token until it is to be seen', async () => {
      await stage.mountApp({ token: null });
      expect(await field().getAttribute('type')).to.equal('password');
      await stage.page.getByRole('button', { name: 'Show the token' }).click();
      expect(await field().getAttribute('type')).to.equal('text');
    });
  });

  describe('with a sign-in link', () => {
    it('takes the code out of the address before it is used, and signs in', async () => {
      let addressAtRedeem = '';
      await stage.mountApp({
        address: '/jobs?status=FAILED#signin=code-1',
        token: 'svc_old',
        api: {
          'POST /auth/sign-in-links:redeem': () => {
            addressAtRedeem = address();
            return { token: 'svc_new' };
          },
        },
      });
      await heading('Jobs').waitFor();
      // The heading is there while the code is still being traded for a token.
      await stage.untilEqual(storedToken, 'svc_new');
      expect(addressAtRedeem).to.equal('/jobs?status=FAILED');
      expect(stage.api.bodies).to.deep.equal([{ code: 'code-1' }]);
    });

    const misses: [string, Refusal, string][] = [
      [
        'was used',
        new Refusal(404, 'not_found', 'no such code'),
        'This sign-in link was already used or has expired.',
      ],
      ['cannot be checked', OFFLINE, 'The server does not answer.'],
    ];
    for (const [what, refusal, text] of misses) {
      it(`says what to do when the link ${what}`, async () => {
        await stage.mountApp({
          address: '/jobs#signin=code-1',
          token: null,
          api: { 'POST /auth/sign-in-links:redeem': refusal },
        });
        await stage.page.getByText(text).waitFor();
        await field().waitFor();
        expect(address()).to.equal('/jobs');
      });
    }
  });

  describe('to somebody who is signed in', () => {
    it('shows the page of the address, and who is signed in', async () => {
      await stage.mountApp({ address: '/nodes' });
      await heading('Nodes').waitFor();
      await stage.page.getByText('Can read and write').waitFor();
      await stage.page.getByText('Live', { exact: true }).waitFor();
      await stage.expectSound();
    });

    it('says that a token can only read', async () => {
      await stage.mountApp({ api: { 'GET /auth/whoami': who({ scope: 'read', can_write: false }) } });
      await stage.page.getByText('Can only read').waitFor();
    });

    it('begins with the overview', async () => {
      await stage.mountApp({ address: '/' });
      await heading('Overview').waitFor();
      expect(address()).to.equal('/');
      const current = stage.page.locator('nav [aria-current="page"]');
      await stage.untilEqual(() => current.allInnerTexts(), ['Overview']);
      await stage.expectSound();
    });

    it('says that there is no page at an address', async () => {
      await stage.mountApp({ address: '/nothing/here' });
      await heading('Page not found').waitFor();
      await stage.untilEqual(() => stage.page.title(), 'Not found · svc');
      await stage.page.getByRole('link', { name: 'Go to the overview' }).click();
      await heading('Overview').waitFor();
      await stage.untilEqual(() => stage.page.title(), 'Overview · svc');
    });

    it('goes from page to page without a reload, and back', async () => {
      await stage.mountApp();
      await stage.page.evaluate('window.isSamePage = true');
      for (const name of ['Runs', 'Nodes', 'Events']) {
        await stage.page.getByRole('link', { name, exact: true }).click();
        await heading(name).waitFor();
        const current = stage.page.locator('nav [aria-current="page"]');
        await stage.untilEqual(async () => (await current.allInnerTexts()).join(), name);
      }
      await stage.page.goBack();
      await heading('Nodes').waitFor();
      expect(await stage.page.evaluate('window.isSamePage')).to.equal(true);
    });

    it('shows the entry of the list as the current one on the page of one', async () => {
      await stage.mountApp({
        address: '/jobs',
        api: {
          'GET /jobs': { items: [job(1)], next_before: null },
          'GET /jobs/{job_id}': job(1),
          'GET /jobs/{job_id}/runs': { items: [] },
          'GET /jobs/{job_id}/attempts': { items: [] },
          'GET /jobs/{job_id}/logs': { job_id: job(1).id, attempt: 1, lines: [], dropped: 0 },
        },
      });
      await stage.page.getByRole('link', { name: 'job-1', exact: true }).click();
      await heading('job-1').waitFor();
      expect(await stage.page.locator('nav [aria-current="page"]').allInnerTexts()).to.deep.equal(['Jobs']);
      await stage.expectSound();
    });

    it('moves the focus to a page that is opened, so that a screen reader begins there', async () => {
      await stage.mountApp();
      await stage.page.getByRole('link', { name: 'Runs', exact: true }).click();
      await heading('Runs').waitFor();
      await stage.untilEqual(
        () => stage.page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id ?? ''),
        'main',
      );
    });

    it('lets the keyboard skip the navigation', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      await stage.page.locator('.skip').focus();
      await stage.page.keyboard.press('Enter');
      await stage.untilEqual(
        () => stage.page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id ?? ''),
        'main',
      );
    });

    it('leaves links to elsewhere, to files and to the API alone', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      const taken = await stage.page.evaluate(() => {
        const links = ['https://example.org/', '/api/v1/openapi.json', '/jobs#a', '/runs'].map((href) =>
          Object.assign(document.createElement('a'), { href }),
        );
        links.push(Object.assign(document.createElement('a'), { href: '/runs', target: '_blank' }));
        links.push(Object.assign(document.createElement('a'), { href: '/runs', download: 'x' }));
        document.body.append(...links);
        return links.map((link) => {
          const event = new MouseEvent('click', { bubbles: true, cancelable: true, composed: true });
          link.addEventListener('click', () => {}, { once: true });
          document.addEventListener(
            'click',
            (seen) => {
              link.dataset['taken'] = String(seen.defaultPrevented);
              seen.preventDefault();
            },
            { once: true },
          );
          link.dispatchEvent(event);
          return link.dataset['taken'];
        });
      });
      expect(taken).to.deep.equal(['false', 'false', 'true', 'true', 'false', 'false']);
    });

    it('signs out, and forgets the token', async () => {
      await stage.mountApp({ address: '/runs' });
      await heading('Runs').waitFor();
      await stage.page.getByRole('button', { name: 'Sign out' }).click();
      await field().waitFor();
      expect(await storedToken()).to.equal(null);
      expect(address()).to.equal('/runs');
      await stage.untilEqual(() => stage.page.evaluate('harness.openStreams().length'), 0);
    });

    it('signs out when the server no longer takes the token, with the server’s reason', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      stage.api.change({ 'GET /runs': REFUSED, 'GET /projects': REFUSED, 'GET /experiments': REFUSED });
      await stage.page.getByRole('link', { name: 'Runs', exact: true }).click();
      await stage.page.getByText('This token is not valid.').waitFor();
      await field().waitFor();
    });

    it('loads by itself once a server that did not answer at its start is back', async () => {
      await stage.mountApp({ api: { 'GET /auth/whoami': OFFLINE } });
      await heading('The server does not answer').waitFor();
      stage.api.change({ 'GET /auth/whoami': { name: 'me', scope: 'write', can_write: true } });
      await heading('Jobs').waitFor();
    });

    it('says at its start that the server does not answer, and tries again when asked', async () => {
      await stage.mountApp({ api: { 'GET /auth/whoami': OFFLINE } });
      await heading('The server does not answer').waitFor();
      expect(await storedToken()).to.equal('svc_test');
      await stage.expectSound();
      stage.api.change({ 'GET /auth/whoami': who() });
      await stage.page.getByRole('button', { name: 'Try again' }).click();
      await heading('Jobs').waitFor();
    });

    it('takes another theme at once, and keeps it', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      for (const [name, theme, stored] of [
        ['Dark theme', 'dark', 'dark'],
        ['Light theme', 'light', 'light'],
        ['System theme', undefined, 'auto'],
      ] as const) {
        const button = stage.page.getByRole('button', { name });
        await button.click();
        expect(await button.getAttribute('aria-pressed')).to.equal('true');
        expect(await stage.page.evaluate(() => document.documentElement.dataset['theme'])).to.equal(theme);
        expect(await stage.page.evaluate(() => localStorage.getItem('svc.theme'))).to.equal(stored);
        await stage.expectSound(name);
      }
    });

    it('has its navigation at the bottom of a phone', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      await stage.page.setViewportSize(PHONE);
      const { y } = (await stage.page.getByRole('navigation', { name: 'Main' }).boundingBox())!;
      expect(y).to.be.greaterThan(PHONE.height - 80);
      await stage.expectSound();
    });
  });

  describe('with pages of plugins', () => {
    const page = (name: string, more: object = {}) => ({
      name,
      title: `Page ${name}`,
      path: `/${name}`,
      icon: null,
      module: `/extensions/${name}.js`,
      ...more,
    });
    const extensions = (pages: object[], run_tabs: object[] = []) => ({
      'GET /extensions.json': { pages, run_tabs },
    });
    const entries = async () =>
      (await stage.page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()).map(
        (text) => text.trim(),
      );
    const serve = (name: string, text: string) =>
      stage.page.route(`**/extensions/${name}.js`, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: text }),
      );
    const SHOWING = `export default ({ lit: { LitElement, html }, api, paths }) => class extends LitElement {
      static properties = { params: {}, query: {}, run: {}, summary: {}, items: { state: true } };
      async connectedCallback() { super.connectedCallback(); this.items = (await api.get('/projects', { limit: 7 })).items; }
      render() { return html\`<h1>Made by a plugin</h1><p>\${JSON.stringify({ params: this.params, query: this.query && String(this.query), run: this.run?.name, count: this.items?.length, jobs: paths.jobs() })}</p>\`; }
    };`;

    it('lists them behind its own, with an icon of theirs or the usual one', async () => {
      await stage.mountApp({
        api: extensions([page('a', { icon: 'events' }), page('b', { icon: 'no-such-icon' })]),
      });
      await stage.untilEqual(entries, withOwn('Page a', 'Page b'));
      expect(await stage.page.locator('nav a .icon-page').count()).to.equal(1);
      await stage.expectSound();
    });

    it('gives a page its address, and data by the API', async () => {
      await serve('report', SHOWING);
      await stage.mountApp({
        address: '/reports/7?a=b',
        api: extensions([page('report', { path: '/reports/:id' })]),
      });
      await heading('Made by a plugin').waitFor();
      await stage.page.getByText('{"params":{"id":"7"},"query":"a=b","count":0,"jobs":"/jobs"}').waitFor();
      expect(stage.api.requests).to.include('GET /projects?limit=7');
    });

    it('gives a run tab its run', async () => {
      await serve('tab', SHOWING);
      await stage.mountApp({
        address: `/runs/${run(1).id}?tab=more`,
        api: {
          ...extensions([], [{ name: 'more', label: 'More', module: '/extensions/tab.js' }]),
          'GET /runs/{run_id}': run(1),
          'GET /runs/{run_id}/summary': OFFLINE,
        },
      });
      await stage.page.getByText('"run":"run-1"').waitFor();
      const tabs = stage.page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link');
      expect((await tabs.allInnerTexts()).slice(-2)).to.deep.equal(['Diagnosis', 'More']);
      expect(await tabs.last().getAttribute('aria-current')).to.equal('page');
    });

    it('says on the page alone that its module is broken', async () => {
      await serve('broken', 'export default 1 +');
      await stage.mountApp({ address: '/broken', api: extensions([page('broken')]) });
      await heading('This page could not be loaded').waitFor();
      await stage.page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await heading('Jobs').waitFor();
    });

    const problems: [string, object, string][] = [
      [
        'has the path of a page of the console',
        extensions([page('mine', { path: '/jobs' }), page('good')]),
        'the page "mine" has the path of the page "jobs"',
      ],
      [
        'has the name of a page of the console',
        extensions([page('jobs', { path: '/mine' }), page('good')]),
        'two pages of the name "jobs"',
      ],
    ];
    for (const [what, api, text] of problems) {
      it(`leaves one out that ${what}, and says so`, async () => {
        await stage.mountApp({ api: api as Record<string, object> });
        await stage.page.locator('svc-toasts li.error', { hasText: text }).waitFor();
        expect(await entries()).to.deep.equal(withOwn('Page good'));
      });
    }

    it('works without them when their list cannot be read, and says so', async () => {
      await stage.mountApp({ api: { 'GET /extensions.json': 'no JSON object' as unknown as object } });
      await heading('Jobs').waitFor();
      await stage.page.getByText('The pages of plugins could not be loaded.').waitFor();
    });
  });
});
