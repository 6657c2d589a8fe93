import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ROOT } from './program.js';

const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'];
const SCREENSHOTS = path.join(ROOT, 'test-results');

/** A headless Chromium with a new, empty profile. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  const args = [...QUIET, '--disable-background-networking', '--disable-component-update'];
  return chromium.launch({ executablePath, args });
}

/** Fills in the form that the console shows to who is not signed in. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.keyboard.press('Enter');
}

/** Saves what the page shows as test-results/<name>.png, for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) });
}

/** Everything that the page complains about from now on: uncaught errors, failed requests, console errors. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`);
  });
  return complaints;
}
