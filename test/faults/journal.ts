import { existsSync, readFileSync } from 'node:fs';

/** A line of the journal that worker.py writes. Times in ms. */
interface Entry {
  readonly event: 'start' | 'beat' | 'lines' | 'points' | 'end' | 'refused' | 'sdk';
  readonly pid: number;
  readonly job: string;
  readonly attempt: number;
  readonly node: string;
  readonly gpus: readonly number[];
  readonly mono_ms: number;
  readonly wall_ms: number;
  readonly role?: 'main' | 'grandchild';
  readonly code?: number;
  readonly intended?: number;
  readonly printed?: number;
  readonly logged?: number;
  readonly flushed?: number;
}

/** One process of a job, by its own word. */
export interface Witness {
  readonly pid: number;
  readonly job: string;
  readonly attempt: number;
  readonly node: string;
  readonly gpus: readonly number[];
  readonly role: 'main' | 'grandchild';
  readonly startedAt: number;
  /** The last sign of it. */
  readonly seenAt: number;
  /** The code that it was about to exit with, and when; null: it did not come to that. */
  readonly end: { readonly code: number; readonly at: number } | null;
  /** Numbered lines per stream: at least `printed`, at most `intended` of them were written. */
  readonly printed: number;
  readonly intended: number;
  /** Numbered points: `logged` were given to the SDK, `flushed` it said to have delivered. */
  readonly logged: number;
  readonly flushed: number;
}

/** All processes that have written to the journal, in the order of their start. */
export function readJournal(file: string): Witness[] {
  const byProcess = new Map<string, Entry[]>();
  for (const entry of readEntries(file)) {
    const key = `${entry.job} ${entry.attempt} ${entry.node} ${entry.pid}`;
    byProcess.set(key, [...(byProcess.get(key) ?? []), entry]);
  }
  return [...byProcess.values()].map(toWitness).sort((one, other) => one.startedAt - other.startedAt);
}

function readEntries(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
}

function toWitness(entries: readonly Entry[]): Witness {
  const [first] = entries as [Entry];
  const highest = (name: 'printed' | 'intended' | 'logged' | 'flushed') =>
    Math.max(0, ...entries.map((entry) => entry[name] ?? 0));
  const end = entries.find(({ event }) => event === 'end');
  const { pid, job, attempt, node, gpus } = first;
  return {
    pid,
    job,
    attempt,
    node,
    gpus,
    role: entries.find(({ event }) => event === 'start')?.role ?? 'main',
    startedAt: first.wall_ms,
    seenAt: Math.max(...entries.map(({ wall_ms }) => wall_ms)),
    end: end === undefined ? null : { code: end.code ?? 0, at: end.wall_ms },
    printed: highest('printed'),
    intended: highest('intended'),
    logged: highest('logged'),
    flushed: highest('flushed'),
  };
}
