import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../../test/support/browser.js';
import { requireEngine } from '../../../test/support/engines.js';
import { openExampleLab, type ExampleLab } from '../../../test/support/example-lab.js';
import { openConsoleTab, type Look } from './harness/console-tab.js';
import { toExamplePages } from './harness/example-pages.js';
import { AXE, excessWidthOf, findFaults } from './harness/soundness.js';

/** A script in the page would be against its Content-Security-Policy; what the debugger evaluates is not. */
const AXE_CODE = readFileSync(AXE, 'utf8');
/** What a page asks to learn it: that a run is missing, and that no one metric is primary for all listed checkpoints. */
const EXPECTED = /status of 404|status of 422 .*\/checkpoints\/compare\?/;

/** The built console, served by the real server, with a real agent and jobs of every state. */
describe('a walk through every page', function () {
  this.timeout(180_000);
  let lab: ExampleLab;
  let browser: Browser;

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    lab = await openExampleLab(requireEngine(this, 'python'));
    browser = await launchBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await lab?.close();
  });

  async function walk(look: Look, token: string): Promise<string[]> {
    const tab = await openConsoleTab(browser, lab.server.url, { token, look });
    const found: string[] = [];
    for (const { name, address } of toExamplePages(lab.ids)) {
      await tab.show(address);
      await tab.page.evaluate(AXE_CODE);
      const excess = await excessWidthOf(tab.page);
      if (excess > 0) found.push(`${name}: ${excess} px wider than the page`);
      for (const fault of await findFaults(tab.page)) found.push(`${name}: ${fault}`);
      const complaints = tab.complaints.splice(0).filter((text) => !EXPECTED.test(text));
      for (const complaint of complaints) found.push(`${name}: ${complaint}`);
      if ((await tab.page.title()) === '1') found.push(`${name}: a name became markup`);
    }
    await tab.page.context().close();
    return found;
  }

  for (const look of ['light', 'dark', 'phone'] as const)
    it(`finds nothing broken (${look})`, async () => {
      expect(await walk(look, lab.writeToken)).to.deep.equal([]);
    });

  it('finds nothing wider than a window of 1000 pixels', async () => {
    const tab = await openConsoleTab(browser, lab.server.url, { token: lab.writeToken, look: 'light' });
    await tab.page.setViewportSize({ width: 1000, height: 800 });
    const found: string[] = [];
    for (const { name, address } of toExamplePages(lab.ids)) {
      await tab.show(address);
      const excess = await excessWidthOf(tab.page);
      if (excess > 0) found.push(`${name}: ${excess} px wider than the page`);
    }
    await tab.page.context().close();
    expect(found).to.deep.equal([]);
  });

  it('finds nothing broken with a token that may only read (phone-dark)', async () => {
    expect(await walk('phone-dark', lab.readToken)).to.deep.equal([]);
  });
});
