import type { Browser } from 'playwright-core';
import type { Server } from '../../test/support/workplace.js';
import { openTab, type Tab, type TabOptions } from './tab.js';

export interface Stage {
  readonly server: Server;
  readonly browser: Browser;
  readonly token: string;
  readonly rounds: number;
}

/** Each round in a tab of its own, which is closed after it. */
export async function inRounds<T>(
  { browser, rounds }: Stage,
  options: TabOptions,
  measure: (tab: Tab, round: number) => Promise<T>,
): Promise<T[]> {
  const figures: T[] = [];
  for (let round = 0; round < rounds; round++) {
    const tab = await openTab(browser, options);
    try {
      figures.push(await measure(tab, round));
    } finally {
      await tab.close();
    }
  }
  return figures;
}

/** A row of the table: median and worst of the rounds. */
export function toRow(figure: string, budget: string, samples: readonly number[], unit: string): string[] {
  const sorted = [...samples].sort((a, b) => a - b);
  const [median, worst] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return [figure, budget, toText(median), toText(worst), unit];
}

function toText(value = NaN): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
