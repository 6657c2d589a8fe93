/** Metrics that share a chart. */
export interface MetricGroup {
  title: string;
  names: string[];
}

/** Most telling first: what holds the primary metric, the loss, what is measured in phases, then the rest by name. */
export function orderGroups(
  groups: readonly MetricGroup[],
  isPrimary: (name: string) => boolean,
): MetricGroup[] {
  const rankOf = ({ title, names }: MetricGroup): number => {
    if (names.some(isPrimary)) return 0;
    if (title === 'loss') return 1;
    return names.some(phaseOf) ? 2 : 3;
  };
  return [...groups].sort((a, b) => rankOf(a) - rankOf(b));
}

const PHASE_WORD = /^(train|training|val|valid|validation|eval|evaluation|test|dev)[_.-](?=.)/;
const MAX_PER_CHART = 6;

/**
 * `train/loss`, `val/loss`, `val_loss` and `loss` to one chart named `loss`. A group of more than six is split by
 * what stands before the last slash, so that no chart is a tangle.
 */
export function groupMetrics(names: readonly string[]): MetricGroup[] {
  const groups = [...collect(names, measureOf)].flatMap(([title, members]) =>
    members.length <= MAX_PER_CHART ? [{ title, names: members }] : splitGroup(members),
  );
  for (const group of groups) group.names.sort(byPhase);
  return groups;
}

/** What is measured, without who measured it: `val/f1_macro` and `val_f1_macro` to `f1_macro`. */
export function measureOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last.replace(PHASE_WORD, '') || name;
}

function splitGroup(members: string[]): MetricGroup[] {
  const parts = collect(members, (name) => name.slice(0, Math.max(0, name.lastIndexOf('/'))));
  return [...parts].flatMap(([, part]) => {
    if (part.length <= MAX_PER_CHART)
      return [{ title: part.length === 1 ? part[0]! : commonTitle(part), names: part }];
    return part.map((name) => ({ title: name, names: [name] }));
  });
}

function commonTitle(names: string[]): string {
  return names[0]!.slice(0, names[0]!.lastIndexOf('/') + 1) + measureOf(names[0]!);
}

function collect(names: readonly string[], keyOf: (name: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const key = keyOf(name);
    const members = groups.get(key);
    if (members) members.push(name);
    else groups.set(key, [name]);
  }
  return groups;
}

const PHASES = ['train', 'val', 'test'] as const;
type Phase = (typeof PHASES)[number];

/** Which part of the work a metric watches, if its name says so. */
export function phaseOf(name: string): Phase | null {
  const words = name.toLowerCase().split(/[/_.-]/);
  if (words.some((word) => word === 'train' || word === 'training')) return 'train';
  if (words.some((word) => ['val', 'valid', 'validation', 'eval', 'evaluation', 'dev'].includes(word)))
    return 'val';
  if (words.includes('test')) return 'test';
  return null;
}

function byPhase(a: string, b: string): number {
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function rank(name: string): number {
  const phase = phaseOf(name);
  return phase === null ? PHASES.length : PHASES.indexOf(phase);
}

const COLOR_COUNT = 8;

/** Colour numbers 1 to 8: train is always 1, validation 2, test 3; others take what is free. */
export function assignColors(names: readonly string[]): number[] {
  const taken = new Set<number>();
  const preferred = names.map((name) => {
    const phase = phaseOf(name);
    const color = phase === null ? 0 : PHASES.indexOf(phase) + 1;
    if (color === 0 || taken.has(color)) return 0;
    taken.add(color);
    return color;
  });
  return preferred.map((color, at) => (color > 0 ? color : nextFree(taken, at)));
}

function nextFree(taken: Set<number>, at: number): number {
  for (let color = 1; color <= COLOR_COUNT; color += 1) {
    if (!taken.has(color)) {
      taken.add(color);
      return color;
    }
  }
  return (at % COLOR_COUNT) + 1;
}
