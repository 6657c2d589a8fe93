import { containsToken } from '@svc/contract';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A token takes some 60; an environment file beside it a few more. */
const MAX_BYTES = 1024;

/** Whether a small file holds a token of svc. Read are those alone whose name speaks of one: a tree may have 100 000 files. */
export function holdsToken(file: string, sizeBytes: number): boolean {
  if (sizeBytes > MAX_BYTES || !/token/i.test(path.basename(file))) return false;
  try {
    return containsToken(readFileSync(file, 'utf8'));
  } catch {
    // What cannot be read is refused when it is packed.
    return false;
  }
}
