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

/** What is found by the text, the names that begin with it first. */
export function filterEntries(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const wanted = text.trim();
  if (wanted === '') return [...entries];
  const fitting = entries.filter(({ label, words = '' }) => hasWords(`${label} ${words}`, wanted));
  const begins = (entry: PaletteEntry) => entry.label.toLowerCase().startsWith(wanted.toLowerCase());
  return [...fitting.filter(begins), ...fitting.filter((entry) => !begins(entry))];
}

export function entriesOf({ jobs, runs, nodes }: Found): PaletteEntry[] {
  return [
    ...jobs.slice(0, MOST_OF_EACH).map(({ id, name, status }) => ({
      group: 'Jobs',
      icon: 'jobs' as const,
      label: name,
      detail: `${statusLabel(status)} · ${shortId(id)}`,
      choose: { path: paths.job(id) },
    })),
    ...runs.slice(0, MOST_OF_EACH).map(({ id, name, status }) => ({
      group: 'Runs',
      icon: 'runs' as const,
      label: name,
      detail: `${statusLabel(status)} · ${shortId(id)}`,
      choose: { path: paths.run(id) },
    })),
    ...nodes.slice(0, MOST_OF_EACH).map(({ id, name, status }) => ({
      group: 'Nodes',
      icon: 'nodes' as const,
      label: name,
      detail: statusLabel(status),
      choose: { path: paths.node(id) },
    })),
  ];
}
