import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { Failure } from '../failure.js';
import { toSize } from '../output/format.js';

const MAX_BYTES = 1024 * 1024;
/** What is no file is opened at once and not read: a pipe would never begin, and a device never end. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/** The lines of a file of rules. Empty when there is no such file. Throws Failure when it is too large, or cannot be read. */
export function readLines(file: string): string[] {
  const opened = open(file);
  if (opened === null) return [];
  try {
    const stats = fstatSync(opened);
    if (!stats.isFile()) return [];
    if (stats.size > MAX_BYTES)
      throw new Failure(
        `${file} takes ${toSize(stats.size)}, which is more than rules take (${toSize(MAX_BYTES)}): make it shorter`,
      );
    return readFileSync(opened, 'utf8').split(/\r?\n/);
  } finally {
    closeSync(opened);
  }
}

/** null: there is no such file. */
function open(file: string): number | null {
  try {
    return openSync(file, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES') return null;
    throw new Failure(
      `${file} cannot be read, so what it leaves out is unknown: make it readable (chmod u+r ${file})`,
    );
  }
}
