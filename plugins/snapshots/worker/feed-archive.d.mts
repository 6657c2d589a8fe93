import type { Parser } from 'tar';

export interface FeedOptions {
  /** Of the archive without its gzip. */
  readonly mostBytes?: number;
  readonly signal?: AbortSignal;
}

export function feedArchive(file: string, reader: Parser, options?: FeedOptions): Promise<void>;
export function isOutside(name: string): boolean;
