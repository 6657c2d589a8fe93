import { expect } from 'chai';
import { run, summary } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const SLOW = `export default ({ lit: { LitElement, html } }) => class extends LitElement {
  render() { return html\`<p>the page itself</p>\`; }
};`;

function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

describe('a page whose code is on its way', () => {
  const stage = useStage();
  const heading = (name: string, level = 1) => stage.page.getByRole('heading', { level, name, exact: true });
  const skeleton = () => stage.page.locator('main svc-skeleton');
  const list = (...names: string[]) => ({
    'GET /extensions.json': {
      pages: names.map((name) => ({
        name,
        title: `Page ${name}`,
        path: `/${name}`,
        icon: null,
        module: `/extensions/${name}.js`,
      })),
      run_tabs: [],
    },
  });
  /** The module arrives when that is called. */
  const holdModule = async (name: string, body = SLOW): Promise<() => void> => {
    const { promise, resolve } = later<null>();
    await stage.page.route(`**/extensions/${name}.js`, async (route) => {
      await promise;
      await route.fulfill({ contentType: 'text/javascript', body });
    });
    return () => resolve(null);
  };

  it('has its title at once, and a place that is shown in a moment', async () => {
    const arrive = await holdModule('first');
    await stage.mountApp({ address: '/first', api: list('first') });
    await heading('Page first').waitFor();
    expect(await stage.page.title()).to.equal('Page first · svc');
    await stage.untilEqual(() => skeleton().evaluate((one) => getComputedStyle(one).opacity), '1');
    for (const size of [DESK, PHONE]) {
      await stage.page.setViewportSize(size);
      await stage.expectSound();
    }
    arrive();
    await stage.page.getByText('the page itself').waitFor();
    expect(await skeleton().count()).to.equal(0);
  });

  it('takes the place of the page before, and the focus, when it takes long', async () => {
    const arrive = await holdModule('second');
    await stage.mountApp({ api: list('second') });
    await heading('Jobs').waitFor();
    await stage.page.getByRole('link', { name: 'Page second' }).click();
    await heading('Page second').waitFor();
    expect(await heading('Jobs').count()).to.equal(0);
    expect(await stage.page.evaluate(() => document.activeElement!.shadowRoot!.activeElement!.id)).to.equal(
      'main',
    );
    arrive();
    await stage.page.getByText('the page itself').waitFor();
  });

  it('is left for another one, whose place it does not take', async () => {
    const arrive = await holdModule('third');
    await stage.mountApp({ api: list('third') });
    await heading('Jobs').waitFor();
    await stage.page.getByRole('link', { name: 'Page third' }).click();
    await heading('Page third').waitFor();
    await stage.page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await heading('Nodes').waitFor();
    arrive();
    await stage.page.waitForFunction(() => customElements.get('svc-plugin-page-third'));
    expect(await heading('Nodes').count()).to.equal(1);
  });

  it('has its title also when the code cannot be loaded, and a button to try again', async () => {
    const arrive = await holdModule('broken', 'export default 1 +');
    arrive();
    await stage.mountApp({ address: '/broken', api: list('broken') });
    await heading('This page could not be loaded', 2).waitFor();
    expect(await heading('Page broken').count()).to.equal(1);
    expect(await stage.page.getByRole('button', { name: 'Try again' }).count()).to.equal(1);
    await stage.expectSound();
  });

  it('is named while the server has not said who is signed in', async () => {
    const { promise, resolve } = later<object>();
    const me = { name: 'me', scope: 'write', can_write: true };
    await stage.mountApp({ address: '/projects', api: { 'GET /auth/whoami': () => promise } });
    await heading('Projects').waitFor();
    await stage.page.getByText('Waiting for the server…').waitFor();
    await stage.expectSound();
    resolve(me);
    await stage.page.getByRole('navigation', { name: 'Main' }).waitFor();
  });

  it('shows of a record where it lies and what it is until the record is there', async () => {
    const { promise, resolve } = later<object>();
    const record = run(1);
    await stage.mountApp({
      address: `/runs/${record.id}`,
      api: { 'GET /runs/{run_id}': () => promise, 'GET /runs/{run_id}/summary': summary(record, {}) },
    });
    await heading('Run').waitFor();
    expect(
      await stage.page.locator('main').getByRole('link', { name: 'Runs' }).getAttribute('href'),
    ).to.equal('/runs');
    resolve(record);
    await heading(record.name).waitFor();
    expect(await heading('Run').count()).to.equal(0);
  });
});
