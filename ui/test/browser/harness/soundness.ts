import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

export const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** How many pixels wider than the window the page is; 0 or less is none. */
export function excessWidthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** The texts whose writing direction also turns what stands behind them, as no element around them ends it. */
export function findTurning(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const parentOf = (node: Node): Node | null =>
      (node instanceof Element && node.assignedSlot) ||
      (node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentNode);
    const ends = (node: Node): boolean => {
      if (!(node instanceof Element)) return false;
      const { display, unicodeBidi } = getComputedStyle(node);
      return (display !== 'inline' && display !== 'contents') || unicodeBidi !== 'normal';
    };
    const textOf = (node: Node): string =>
      node instanceof Element && getComputedStyle(node).display === 'none'
        ? ''
        : node instanceof Text
          ? node.data
          : [...((node instanceof Element && node.shadowRoot) || node).childNodes].map(textOf).join('');
    const textBehind = (node: Node): string => {
      let text = '';
      for (let next = node.nextSibling; next; next = next.nextSibling) text += textOf(next);
      const parent = parentOf(node);
      return parent === null || ends(parent) ? text : text + textBehind(parent);
    };
    const walk = (node: Node): void => {
      if (node instanceof Text && node.data.includes('\u202e')) {
        const behind = textBehind(node).trim();
        if (behind !== '') found.push(`${node.data.trim()} | ${behind}`);
      }
      if (node instanceof Element && node.shadowRoot) walk(node.shadowRoot);
      if (!(node instanceof HTMLOptionElement)) node.childNodes.forEach(walk);
    };
    walk(document.body);
    return found;
  });
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
