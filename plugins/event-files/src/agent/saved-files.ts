import type { Mark } from './file-mark.js';

export const STATE_FILE = 'event-files.json';

/** A file that is read. */
export interface Followed {
  readonly prefix: string;
  readonly mark: Mark;
  /** Bytes that are dealt with. */
  readonly offset: number;
  /** Scalars that lie before the offset. */
  readonly count: number;
  /** Bytes before the offset without a valid record. */
  readonly noise: number;
  /** How often it was written anew with the same beginning: its values are new ones then. */
  readonly generation: number;
}

/** `event-files.json` in the attempt's directory. It may be behind: what is read again has the same seqs. */
export interface Saved {
  readonly files: Record<string, Followed>;
  /** Of the names of folders. */
  readonly base: string | null;
  /** Files of before the attempt, with their sizes: they are followed once they grow. */
  readonly earlier: Record<string, number>;
}
