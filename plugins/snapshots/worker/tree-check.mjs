// What a source tree may consist of, entry by entry. The names are kept as a tree, so that long paths take no more memory than short ones.
import { isOutside } from './feed-archive.mjs';

/** A tar can also hold devices and pipes. */
const ALLOWED = new Set(['File', 'OldFile', 'ContiguousFile', 'Directory', 'SymbolicLink', 'Link']);
const MOST_DEPTH = 256;
/** Of file systems. */
const MOST_NAME_BYTES = 255;
/** Of file systems, less what the directory of an attempt takes. */
const MOST_PATH_BYTES = 3072;
const MOST_LINK_BYTES = 4095;
/** Of symbolic links together, with their paths: who unpacks makes them last, and keeps them in memory until then. */
const MOST_BYTES_OF_LINKS = 32 * 1024 * 1024;

export class TreeCheck {
  #root = { type: 'Directory', below: new Map() };
  #limits;
  #bytes = 0;
  #linkBytes = 0;
  /** Entries and directories that only paths name. */
  #count = 0;
  files = 0;

  constructor(limits) {
    this.#limits = limits;
  }

  /** What is wrong with the entry; null: nothing. */
  add({ path, type, linkpath, size }) {
    const { maxFiles, maxBytes } = this.#limits;
    if (type !== 'Directory') this.files += 1;
    this.#bytes += size;
    if (type === 'SymbolicLink') this.#linkBytes += Buffer.byteLength(path) + Buffer.byteLength(linkpath);
    const flaw = findFlaw({ path, type, linkpath }) ?? this.#findMissing(path, type, linkpath);
    const clash = flaw ?? this.#place(path, type);
    if (clash !== null) return clash;
    if (this.#count > maxFiles) return `it has more than ${maxFiles} files and directories`;
    if (this.#bytes > maxBytes) return `its files take more than ${maxBytes} bytes`;
    if (this.#linkBytes > MOST_BYTES_OF_LINKS)
      return `its symbolic links take more than ${MOST_BYTES_OF_LINKS} bytes`;
    return null;
  }

  #findMissing(path, type, linkpath) {
    if (type !== 'Link') return null;
    let node = this.#root;
    for (const name of toNames(linkpath)) node = node?.below?.get(name);
    if (node !== undefined && node.type !== 'Directory' && node.type !== 'SymbolicLink') return null;
    return `"${path}" is a hard link to "${linkpath}", which is no file before it`;
  }

  #place(path, type) {
    const names = toNames(path);
    let node = this.#root;
    names.forEach((name, at) => {
      if (node === null || node.type !== 'Directory') return void (node = null);
      const isLast = at === names.length - 1;
      const known = node.below.get(name);
      if (known === undefined || isLast) this.#count += 1;
      const next =
        known ?? (isLast && type !== 'Directory' ? { type } : { type: 'Directory', below: new Map() });
      if (known === undefined) node.below.set(toOwnString(name), next);
      const isRepeated =
        isLast &&
        known !== undefined &&
        (type === 'SymbolicLink' ||
          (known.type === 'Directory') !== (type === 'Directory') ||
          known.type === 'SymbolicLink');
      node = isRepeated ? null : next;
    });
    return node === null ? `"${path}" stands below or in place of something that is no directory` : null;
  }
}

/** A part of a path keeps the whole path in memory. */
function toOwnString(name) {
  return Buffer.from(name).toString();
}

function toNames(path) {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function findFlaw({ path, type, linkpath }) {
  if (!ALLOWED.has(type)) return `"${path}" is a ${type}; a source tree has files, directories and links`;
  if (isOutside(path)) return `"${path}" leads out of the tree, or would on Windows`;
  if (type === 'Link' && isOutside(linkpath))
    return `"${path}" is a hard link to "${linkpath}", outside the tree`;
  const names = toNames(path);
  const shown = `${path.slice(0, 100)}…`;
  if (names.length === 0 && type !== 'Directory') return `"${path}" is the tree itself, and no directory`;
  if (names.length > MOST_DEPTH) return `"${shown}" has more than ${MOST_DEPTH} directories in its path`;
  if (Buffer.byteLength(path) > MOST_PATH_BYTES)
    return `the path "${shown}" has more than ${MOST_PATH_BYTES} bytes`;
  if (names.some((name) => Buffer.byteLength(name) > MOST_NAME_BYTES))
    return `"${shown}" has a name of more than ${MOST_NAME_BYTES} bytes`;
  if (path.includes('\0')) return `"${shown}" has a zero byte in its name`;
  if (type === 'SymbolicLink' && (Buffer.byteLength(linkpath) > MOST_LINK_BYTES || linkpath.includes('\0')))
    return `"${shown}" is a link to a path that no file system takes`;
  return null;
}
