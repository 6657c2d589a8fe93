/**
 * Pictures of every page of the console, light, dark and as wide as a phone, for people to look at: of the built console, a real server and a real agent.
 * Usage: npm run screenshots [-- DIRECTORY]
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { launchBrowser } from '../../test/support/browser.js';
import { requireProgram } from '../../test/support/engines.js';
import { openExampleLab } from '../../test/support/example-lab.js';
import { ROOT } from '../../test/support/program.js';
import { openConsoleTab, type Look } from './browser/harness/console-tab.js';
import { toExamplePages } from './browser/harness/example-pages.js';

const LOOKS: readonly Look[] = ['light', 'dark', 'phone'];
/** A picture of a longer page ends there. */
const MOST_HEIGHT = 4_000;

const directory = path.resolve(process.argv[2] ?? path.join(ROOT, '.cache', 'screenshots'));
const lab = await openExampleLab(requireProgram('python'));
const browser = await launchBrowser(requireProgram('chromium'));
try {
  for (const look of LOOKS) await takeAll(look);
  process.stdout.write(`pictures are in ${directory}\n`);
} finally {
  await browser.close();
  await lab.close();
}

async function takeAll(look: Look): Promise<void> {
  mkdirSync(path.join(directory, look), { recursive: true });
  const { page, show } = await openConsoleTab(browser, lab.server.url, { token: lab.writeToken, look });
  const { width, height } = page.viewportSize()!;
  for (const { name, address } of toExamplePages(lab.ids)) {
    await page.setViewportSize({ width, height });
    await show(address);
    const file = path.join(directory, look, `${name}.png`);
    await page.screenshot({ path: file });
    const whole = await page.evaluate('document.documentElement.scrollHeight');
    if (Number(whole) <= height) continue;
    // Charts are drawn when they come into sight, so the window grows to all of them.
    await page.setViewportSize({ width, height: Math.min(Number(whole), MOST_HEIGHT) });
    await page.evaluate(
      'new Promise((resolve) => requestIdleCallback(() => requestAnimationFrame(resolve)))',
    );
    await page.waitForTimeout(400);
    await page.screenshot({ path: path.join(directory, look, `${name}-whole.png`) });
  }
  await page.context().close();
}
