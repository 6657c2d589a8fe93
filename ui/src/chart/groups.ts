/** Metrics that share a chart. */
export interface MetricGroup {
  title: string;
  names: string[];
}

/** Of metrics that have one, by name. */
export type Units = ReadonlyMap<string, string>;

/** Charts under one heading. */
export interface MetricSection {
  /** Empty for what shares its prefix with no other chart. */
  title: string;
  groups: MetricGroup[];
}

const PHASE_WORDS = {
  train: ['train', 'training', 'tr'],
  val: ['val', 'valid', 'validation', 'eval', 'evaluation', 'dev', 'heldout', 'holdout'],
  test: ['test', 'testing'],
} as const;
type Phase = keyof typeof PHASE_WORDS;
const PHASES = Object.keys(PHASE_WORDS) as Phase[];
const PHASE_OF_WORD = new Map(
  PHASES.flatMap((phase) => PHASE_WORDS[phase].map((word): [string, Phase] => [word, phase])),
);
const MAX_PER_CHART = 6;

const collator = new Intl.Collator('en', { numeric: true });

/** By the alphabet, with numbers in names as numbers: `layer2` before `layer10`. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/**
 * The same measure of train, validation and test data to one chart: `train/loss` and `val/loss`, `Loss/train` and `Loss/test`,
 * `loss` and `val_loss`. Different measures never share a chart, nor do different units, as their values have nothing in common. More
 * than six lines are a tangle: then each has a chart of its own. A chart of one metric has its name, one of several has their measure.
 */
export function groupMetrics(names: readonly string[], units: Units = new Map()): MetricGroup[] {
  const all = new Set(names);
  return [...collect(names, (name) => measureOf(name, all))].flatMap(([measure, members]) => {
    const parts = collect(members, (name) => units.get(name) ?? '');
    return [...parts].flatMap(([unit, part]) => {
      if (part.length === 1 || part.length > MAX_PER_CHART)
        return part.map((name) => ({ title: name, names: [name] }));
      const title = parts.size === 1 ? measure : `${measure}, ${unit || 'no unit'}`;
      return [{ title, names: part.sort(byPhase) }];
    });
  });
}

/** Most telling first: what holds the primary metric, the loss, what is measured in phases, then the rest by name. */
export function orderGroups(
  groups: readonly MetricGroup[],
  isPrimary: (name: string) => boolean,
): MetricGroup[] {
  const rankOf = (group: MetricGroup): number => importanceOf(group, isPrimary);
  return [...groups].sort((a, b) => rankOf(a) - rankOf(b) || compareNames(a.title, b.title));
}

/** 0 is most, UNIMPORTANT least. */
function importanceOf({ title, names }: MetricGroup, isPrimary: (name: string) => boolean): number {
  if (names.some(isPrimary)) return 0;
  if ([title, measureOf(names[0]!)].some((name) => name.toLowerCase() === 'loss')) return 1;
  return names.filter(phaseOf).length > 1 ? 2 : UNIMPORTANT;
}

const UNIMPORTANT = 3;

/**
 * By the first part of the names, for groups in their order: first the section of the first group if that is important, then what has no prefix,
 * is measured in several phases, or would be alone in its section, then train, val and test, then the rest.
 */
export function toSections(
  groups: readonly MetricGroup[],
  isPrimary: (name: string) => boolean,
): MetricSection[] {
  const prefixes = collect(groups, prefixOf);
  const sectionOf = (group: MetricGroup): string => {
    const prefix = prefixOf(group);
    return prefixes.get(prefix)!.length > 1 ? prefix : '';
  };
  const sections = [...collect(groups, sectionOf)].map(([title, members]) => ({ title, groups: members }));
  const [first] = groups;
  const lead = first && importanceOf(first, isPrimary) < UNIMPORTANT ? sectionOf(first) : null;
  const rankOf = ({ title }: MetricSection): number => {
    if (title === lead) return -2;
    if (title === '') return -1;
    const phase = PHASE_OF_WORD.get(title.toLowerCase());
    return phase === undefined ? PHASES.length : PHASES.indexOf(phase);
  };
  return sections.sort((a, b) => rankOf(a) - rankOf(b) || compareNames(a.title, b.title));
}

/** What is measured, without on which data: `val/f1_macro`, `val_f1_macro` and `f1_macro/val` to `f1_macro`. */
export function measureOf(name: string, all: ReadonlySet<string> = new Set()): string {
  const path = withoutPeriod(name, all).split('/');
  const isPhase = (part: string): boolean => PHASE_OF_WORD.has(part.toLowerCase());
  const parts = path.filter((part) => !isPhase(part)).map(withoutPhase);
  const measure = parts.join('/');
  return measure.replaceAll('/', '') === '' ? name : measure;
}

/** What tells a metric from the others in the chart: `train` of `train/loss`, `train step` of `train_loss_step`. */
export function labelOf(name: string, title: string): string {
  const at = name.indexOf(title);
  if (name === title || at < 0) return name;
  const rest = `${name.slice(0, at)} ${name.slice(at + title.length)}`;
  return rest.split(SEPARATORS).filter(Boolean).join(' ') || name;
}

/** Lightning logs a metric of each step also as the mean of each epoch: the ending goes where both are there. */
function withoutPeriod(name: string, all: ReadonlySet<string>): string {
  const [, base, period] = /^(.+)_(step|epoch)$/.exec(name) ?? [];
  if (base === undefined) return name;
  return all.has(`${base}_${period === 'step' ? 'epoch' : 'step'}`) ? base : name;
}

/** `val_loss`, `loss_val`, `valLoss`, `loss.val`: without the word. */
function withoutPhase(part: string): string {
  const [, first, behind] = /^([A-Za-z]+)[_.\- ](.+)$/.exec(part) ?? [];
  if (first !== undefined && PHASE_OF_WORD.has(first.toLowerCase())) return behind!;
  const [, before, last] = /^(.+)[_.\- ]([A-Za-z]+)$/.exec(part) ?? [];
  if (last !== undefined && PHASE_OF_WORD.has(last.toLowerCase())) return before!;
  const [, small, capital, tail] = /^(train|val|valid|validation|eval|test)([A-Z])(.*)$/.exec(part) ?? [];
  return small === undefined ? part : capital!.toLowerCase() + tail!;
}

function prefixOf({ title, names }: MetricGroup): string {
  const [first = '', ...rest] = names[0]!.split('/');
  const isShared = names.every((name) => name.startsWith(`${first}/`));
  if (isShared && rest.length > 0 && first !== title) return first;
  const slash = title.indexOf('/');
  return slash > 0 && names.length > 1 ? title.slice(0, slash) : '';
}

function collect<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const members = groups.get(key);
    if (members) members.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

const SEPARATORS = /[/_.\- ]+/;

/** Which part of the work a metric watches, if its name says so. */
export function phaseOf(name: string): Phase | null {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(SEPARATORS);
  const found = words.map((word) => PHASE_OF_WORD.get(word)).find((phase) => phase !== undefined);
  return found ?? null;
}

function byPhase(a: string, b: string): number {
  return rank(a) - rank(b) || compareNames(a, b);
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
