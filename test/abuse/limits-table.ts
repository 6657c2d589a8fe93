import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/program.js';

export interface LimitsRow {
  readonly input: string;
  readonly who: string;
  readonly limit: string;
  readonly cost: string;
  readonly others: string;
}

/** The table of docs/security.md under "Limits of every input". */
export function readLimits(): LimitsRow[] {
  const text = readFileSync(path.join(ROOT, 'docs/security.md'), 'utf8');
  const [, section = ''] = text.split('\n## Limits of every input\n');
  const [own = ''] = section.split('\n## ');
  const lines = own.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const [input = '', who = '', limit = '', cost = '', others = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { input, who, limit, cost, others };
  });
}
