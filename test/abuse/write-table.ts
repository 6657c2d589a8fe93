// Usage: write-table.ts RECORD. Writes the table of docs/security.md anew, with what the suite noted down in RECORD. A case
// without a note keeps the cost that it had.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/program.js';
import { readLimits } from './limits-table.js';
import { ALL_ROWS } from './rows/index.js';

const FILE = path.join(ROOT, 'docs/security.md');
const HEADING = '## Limits of every input';
const HEAD = ['| Input | Who | Limit | Cost | Others notice |', '|---|---|---|---|---|'];

interface Note {
  readonly input: string;
  readonly longestWaitMs: number;
  readonly tookMs: number;
}

const notes = new Map(
  readFileSync(process.argv[2] ?? '', 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Note)
    .map((note) => [note.input, note] as const),
);
const before = new Map(readLimits().map(({ input, cost }) => [input, cost]));
const toCost = (input: string): string => {
  const note = notes.get(input);
  if (!note) return before.get(input) ?? 'not measured yet';
  return `${(note.tookMs / 1000).toFixed(1)} s in all, /health waits ${Math.round(note.longestWaitMs)} ms`;
};
const lines = ALL_ROWS.map(
  ({ input, who, limit, others }) => `| ${input} | ${who} | ${limit} | ${toCost(input)} | ${others} |`,
);
const text = readFileSync(FILE, 'utf8');
const start = text.indexOf('| Input |', text.indexOf(HEADING));
const rest = text.slice(start).split('\n');
const end = rest.findIndex((line) => !line.startsWith('|'));
writeFileSync(FILE, `${text.slice(0, start)}${[...HEAD, ...lines, ...rest.slice(end)].join('\n')}`);
