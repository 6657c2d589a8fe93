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

type Kind = 'jobs' | 'runs' | 'nodes';
const GROUPS: Readonly<Record<Kind, string>> = { jobs: 'Jobs', runs: 'Runs', nodes: 'Nodes' };

/** Of each kind those that fit the text best; where there are more, a last one leads to the page that lists them all. */
export function entriesOf(found: Found, text: string): PaletteEntry[] {
  return [
    ...ofKind('jobs', found.jobs, text, ({ id, status }) => ({
      detail: `${statusLabel(status)} · ${shortId(id)}`,
      choose: { path: paths.job(id) },
    })),
    ...ofKind('runs', found.runs, text, ({ id, status }) => ({
      detail: `${statusLabel(status)} · ${shortId(id)}`,
      choose: { path: paths.run(id) },
    })),
    ...ofKind('nodes', found.nodes, text, ({ id, status }) => ({
      detail: statusLabel(status),
      choose: { path: paths.node(id) },
    })),
  ];
}

function ofKind<T extends { readonly name: string }>(
  kind: Kind,
  all: readonly T[],
  text: string,
  describe: (one: T) => Pick<PaletteEntry, 'detail' | 'choose'>,
): PaletteEntry[] {
  const look = { group: GROUPS[kind], icon: kind };
  const best = byFit(all, text, ({ name }) => name).slice(0, MOST_OF_EACH);
  const entries = best.map((one) => ({ ...look, label: one.name, ...describe(one) }));
  if (all.length <= MOST_OF_EACH) return entries;
  return [
    ...entries,
    { ...look, label: `All ${kind} matching “${text}”`, choose: { path: paths[kind]({ q: text }) } },
  ];
}
