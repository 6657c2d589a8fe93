import type { Folder } from './folder.js';
import type { FoundRun } from './found-run.js';

/** One kind of files that trainings are imported from. */
export interface Source {
  /** The names of the files that it looks for. */
  readonly files: RegExp;
  /** What of this kind lies in the folder; null: nothing. Throws Unreadable, and errors of the file system. */
  recognise(folder: Folder): Promise<Recognised | null>;
}

export interface Recognised {
  readonly runs: readonly FoundRun[];
  /** The folders below that belong to these runs: nothing else is looked for in them. */
  readonly claims: 'all' | readonly string[];
  /** What lies here and is left out. */
  readonly leftOut?: readonly LeftOut[];
}

export interface LeftOut {
  readonly path: string;
  readonly reason: string;
  /** It should have come in. */
  readonly isFailure?: true;
}
