import { isUtf8 } from 'node:buffer';
import { readlinkSync } from 'node:fs';
import { Failure } from '../failure.js';

const REPLACEMENT = '\ufffd';

/** A name as its bytes are, where they are no UTF-8: `caf\xe9.txt`. */
export function toEscaped(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const toHex = (character: string) => `\\x${character.charCodeAt(0).toString(16)}`;
  return bytes.toString('latin1').replace(/[^ -~]/g, toHex);
}

/** An archive holds names as UTF-8, so the file would come back under another name: nothing is left out unsaid. */
export function toNameFailure(root: string, within: string, bytes: Buffer): Failure {
  const rule = `${within}${bytes.toString()}`.replace(/[\\*?[\]!# ]/g, '\\$&').replaceAll(REPLACEMENT, '?');
  return new Failure(
    `the name of ${within}${toEscaped(bytes)} in ${root} is not valid UTF-8: rename it, or put the line /${rule} into ${root}/.svcignore`,
  );
}

/** Where a symbolic link leads. Throws Failure when that is not valid UTF-8. */
export function readTarget(root: string, name: string): string {
  const target = readlinkSync(`${root}/${name}`, { encoding: 'buffer' });
  if (isUtf8(target)) return target.toString();
  throw new Failure(
    `${name} in ${root} is a link to ${toEscaped(target)}, which is not valid UTF-8: rename its target, or put ${name} into ${root}/.svcignore`,
  );
}
