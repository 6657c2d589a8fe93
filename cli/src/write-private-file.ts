import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { randomUUID } from 'node:crypto';

/** Whole or not at all, and never open to other users. */
export function writePrivateFile(file: string, text: string): void {
  const target = toTarget(file);
  const draft = `${target}.${randomUUID()}`;
  try {
    writeSynced(draft, text);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Where a link leads, so that it stays one. */
function toTarget(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (!isLink) return file;
  return existsSync(file) ? realpathSync(file) : path.resolve(path.dirname(file), readlinkSync(file));
}

function writeSynced(file: string, text: string): void {
  const open = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(open, text);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}
