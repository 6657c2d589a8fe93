import type { IconName } from '../components/icons.js';
import { statusLabel } from '../components/svc-status.js';
import type { Found } from '../data/search.js';
import { hasWords } from '../data/search.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';

/** Something that the palette goes to or does. */
export interface PaletteEntry {
  readonly group: string;
  readonly icon: IconName;
  readonly label: string;
  /** Beside the label: what tells it from others of the same name, or its keys. */
  readonly detail?: string;
  /** Other words by which it is found. */
  readonly words?: string;
  readonly choose: { readonly path: string } | (() => void);
}

const MOST_OF_EACH = 8;

/** What is found by the text, the best fit first. */
export function filterEntries(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const wanted = text.trim();
  if (wanted === '') return [...entries];
  const fitting = entries.filter(({ label, words = '' }) => hasWords(`${label} ${words}`, wanted));
  return byFit(fitting, wanted, ({ label }) => label);
}

/** The name that is the text itself first, then those that begin with it, else as they were. */
function byFit<T>(all: readonly T[], text: string, nameOf: (one: T) => string): T[] {
  const wanted = text.trim().toLowerCase();
  const rankOf = (one: T): number => {
    const name = nameOf(one).toLowerCase();
    return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
  };
  return [...all].sort((a, b) => rankOf(a) - rankOf(b));
}

/** Of each kind those that fit the text best. */
export function entriesOf({ jobs, runs, nodes }: Found, text: string): PaletteEntry[] {
  const best = <T extends { readonly name: string }>(all: readonly T[]): T[] =>
    byFit(all, text, ({ name }) => name).slice(0, MOST_OF_EACH);
  return [
    ...best(jobs).map(({ id, name, status }) => ({
      group: 'Jobs',
      icon: 'jobs' as const,
      label: name,
      detail: `${statusLabel(status)} · ${shortId(id)}`,
      choose: { path: paths.job(id) },
    })),
    ...best(runs).map(({ id, name, status }) => ({
      group: 'Runs',
      icon: 'runs' as const,
      label: name,
      detail: `${statusLabel(status)} · ${shortId(id)}`,
      choose: { path: paths.run(id) },
    })),
    ...best(nodes).map(({ id, name, status }) => ({
      group: 'Nodes',
      icon: 'nodes' as const,
      label: name,
      detail: statusLabel(status),
      choose: { path: paths.node(id) },
    })),
  ];
}
