import { routes } from '@svc/contract';
import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot } from '../support/browser.js';
import { PLUGINS, installPackages, toConfigText, toFactory, writeConfig } from '../support/configuration.js';
import { requireEngine } from '../support/engines.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';

const FOLDER = 'svc-plugin-projects-page';
const FILES = ['index.ts', 'page.js', 'run-tab.js'];

describe('a page that a plugin of a third party adds to the console', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let runId: string;

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    installPackages(workplace.dir);
    writeFileSync(path.join(workplace.dir, 'package.json'), '{"type": "module"}');
    writePluginOfDocs(workplace.dir);
    server = await workplace.startServer({ args: ['--config', writeConfig(workplace.dir, configText())] });
    const body = { name: 'first', project: 'vision' };
    runId = (await server.client.call(routes.createRun, { body })).id;
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    complaints = collectComplaints(page);
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  /** The files of docs/plugins.md, as they stand there. */
  function writePluginOfDocs(dir: string): void {
    const docs = readFileSync(path.join(ROOT, 'docs', 'plugins.md'), 'utf8');
    mkdirSync(path.join(dir, FOLDER));
    for (const file of FILES) {
      const [, text] = new RegExp(`\`\`\`[jt]s\n// ${FOLDER}/${file}\n([^]*?)\`\`\``).exec(docs) ?? [];
      expect(text, `docs/plugins.md has no ${FOLDER}/${file}`).to.be.a('string');
      writeFileSync(path.join(dir, FOLDER, file), text!);
    }
  }

  function configText(): string {
    const calls = [...PLUGINS.map((name) => `${toFactory(name)}()`), 'console()', 'projectsPage()'];
    return [
      `import { console } from '@svc/plugin-console';`,
      `import { projectsPage } from './${FOLDER}/index.ts';`,
      toConfigText(calls),
    ].join('\n');
  }

  it('is opened by its address and reads data with the token of who signs in', async () => {
    await page.goto(`${server.url}/projects`);
    const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.getByText('vision: 1 runs').waitFor();
    expect(await page.title()).to.equal('Projects · svc');
    await screenshot(page, 'extension-page');
  });

  it('has an entry in the navigation, beside the console’s own', async () => {
    const entries = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    expect(await entries.allInnerTexts()).to.deep.equal(['Jobs', 'Runs', 'Nodes', 'Events', 'Projects']);
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    await entries.last().click();
    await page.getByText('vision: 1 runs').waitFor();
    expect(await entries.last().getAttribute('aria-current')).to.equal('page');
  });

  it('leads to the console’s own pages, whose run has the tab that the plugin adds', async () => {
    await page.getByRole('link', { name: 'vision' }).click();
    await page.getByRole('link', { name: 'first', exact: true }).click();
    await page.getByRole('link', { name: 'Raw' }).click();
    await page.getByText(`"id": "${runId}"`).waitFor();
    expect(new URL(page.url()).search).to.equal('?tab=raw');
    await screenshot(page, 'extension-run-tab');
    await page.reload();
    await page.getByText(`"id": "${runId}"`).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('No metrics yet').waitFor();
  });

  it('breaks nothing of the content security policy', () => {
    expect(complaints).to.deep.equal([]);
  });
});
