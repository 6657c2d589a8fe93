import { until } from '@svc/hooks/testing';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints } from '../../../../test/support/browser.js';

export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
} as const;

export type Look = keyof typeof LOOKS;

/** A tab that is signed in to the built console of a real server. */
export interface ConsoleTab {
  readonly page: Page;
  /** What the browser complained about, a refusal by the Content-Security-Policy included. */
  readonly complaints: string[];
  /** Loads the console at that address; resolves when the page stands still. */
  show(address: string): Promise<void>;
}

export async function openConsoleTab(
  browser: Browser,
  url: string,
  { token, look }: { token: string; look: Look },
): Promise<ConsoleTab> {
  const context = await browser.newContext({ ...LOOKS[look], reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints = collectComplaints(page);
  await page.addInitScript(
    `globalThis.__name = (value) => value; sessionStorage.setItem('svc.token', ${JSON.stringify(token)})`,
  );
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) => console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  );
  return {
    page,
    complaints,
    async show(address) {
      await page.goto(url + address);
      await untilStill(page);
    },
  };
}

/** Nothing loads any more, and the page has kept its text and its size for a moment. */
async function untilStill(page: Page): Promise<void> {
  let last = '';
  let same = 0;
  await until(
    async () => {
      const now = await page.evaluate(describePage);
      same = now !== '' && now === last ? same + 1 : 0;
      last = now;
      return same >= 2;
    },
    { timeoutMs: 20_000, everyMs: 150 },
  );
}

/** How many elements there are, and their height; empty while something is loading. */
function describePage(): string {
  let count = 0;
  let isBusy = false;
  const visit = (root: ParentNode): void => {
    for (const element of root.querySelectorAll('*')) {
      count += 1;
      if (element.localName === 'svc-skeleton' || element.getAttribute('aria-busy') === 'true') isBusy = true;
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return isBusy || count < 30 ? '' : `${Math.round(count / 10)} ${document.documentElement.scrollHeight}`;
}
