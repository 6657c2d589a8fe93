import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

export const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** How many pixels wider than the window the page is; 0 or less is none. */
export function excessWidthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** One line for each fault: which rule, where. `AXE` must be in the page. */
export async function findFaults(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate(
    `axe.run(document.body, { resultTypes: ['violations'], rules: { region: { enabled: false }, 'page-has-heading-one': { enabled: false } } })`,
  )) as { violations: { id: string; nodes: { target: unknown; failureSummary: string }[] }[] };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${JSON.stringify(target)} ${failureSummary}`),
  );
}
