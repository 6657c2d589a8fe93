import path from 'node:path';

/** A folder with event files, and the one in which they are looked for. */
export interface LogFolder {
  readonly root: string;
  readonly path: string;
}

/** Folders of parts of one training: their names are a prefix wherever they lie. */
const PARTS = new Set([
  'train',
  'training',
  'val',
  'valid',
  'validation',
  'dev',
  'test',
  'eval',
  'evaluation',
]);
/** `Nov22_10-00-00_host` of `SummaryWriter()`, without the comment that may stand behind it. */
const DEFAULT_FOLDER = /^[A-Z][a-z]{2}\d{2}_\d{2}-\d{2}-\d{2}_[^_]*/;
/** Seconds or milliseconds since 1970 (`add_hparams`), a date with or without a time, a time. */
const TIMES = new RegExp(
  [
    String.raw`1\d{9}(?:\d{3})?(?:\.\d+)?`,
    String.raw`20\d{2}([-_.]?)[01]\d\1[0-3]\d(?:[-_ T]*[0-2]\d([-_.:h]?)[0-5]\d(?:\2[0-5]\d)?(?:\.\d+)?)?`,
    String.raw`[0-2]\d([-:])[0-5]\d\3[0-5]\d`,
  ]
    .map((time) => `(?<!\\d)(?:${time})(?!\\d)`)
    .join('|'),
  'g',
);

/**
 * Gives the metrics of a folder their prefix: the way to it from the base, which is the folder that the first ones have in common. Must hold: it follows from the
 * base and the ways of the folders below their roots alone, and no time is part of it.
 */
export class Prefixes {
  /** `base`: its way below a root; null: not decided yet. */
  constructor(private known: string | null) {}

  get base(): string | null {
    return this.known;
  }

  /** By the folders of which the first files have come together. */
  decide(folders: readonly LogFolder[]): void {
    this.known ??= folders.map(trainingOf).reduce(shared).join(path.sep);
  }

  of(folder: LogFolder): string {
    const way = path.relative(path.join(path.sep, this.known ?? ''), path.join(path.sep, wayOf(folder)));
    const names = namesIn(way.split(path.sep).filter((word) => word !== '..'));
    const isElsewhere = way.startsWith('..');
    return [...(isElsewhere && names.length === 0 ? nearestName(folder) : names)]
      .map((name) => `${name}/`)
      .join('');
  }
}

function wayOf({ root, path: folder }: LogFolder): string {
  return path.relative(root, folder);
}

/** The words of the way to the folder of a whole training: above those of its parts and of times. */
function trainingOf(folder: LogFolder): string[] {
  const words = wayOf(folder).split(path.sep);
  const isWhole = (word: string) => !PARTS.has(word) && withoutTimes(word) !== '';
  return words.slice(0, words.findLastIndex(isWhole) + 1);
}

function shared(one: readonly string[], other: readonly string[]): string[] {
  const differs = one.findIndex((word, index) => word !== other[index]);
  return one.slice(0, differs < 0 ? one.length : differs);
}

function nearestName(folder: LogFolder): string[] {
  return namesIn([path.basename(folder.root), ...wayOf(folder).split(path.sep)]).slice(-1);
}

function namesIn(words: readonly string[]): string[] {
  return words.map(withoutTimes).filter((name) => name !== '');
}

function withoutTimes(word: string): string {
  const name = word.replace(DEFAULT_FOLDER, '').replace(TIMES, '');
  return name === word ? word : name.replace(/^[-_. ]+|[-_. ]+$/g, '');
}
