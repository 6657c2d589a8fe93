// Reads a gzipped tar that somebody has uploaded. A thread of its own: unpacking keeps a processor busy, and a hostile archive for long.
// Plain JavaScript: a worker of a server that runs from source could not load TypeScript.
import { createReadStream } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { Parser } from 'tar';

/** A tar can also hold devices and pipes. */
const ALLOWED = new Set(['File', 'OldFile', 'ContiguousFile', 'Directory', 'SymbolicLink', 'Link']);
/** Of a file's header and what fills its last block. */
const HEADER_BYTES = 2048;

const { file, maxFiles, maxBytes } = workerData;
const MOST_BYTES = maxBytes + maxFiles * HEADER_BYTES;
const found = { files: 0, bytes: 0 };

let flaw = null;
try {
  await inspect();
} catch ({ message }) {
  flaw ??= toFlaw(message);
}
parentPort.postMessage({ flaw, files: found.files });

async function inspect() {
  let unpackedBytes = 0;
  let hasEnded = false;
  const parser = new Parser({ strict: true, onReadEntry: look });
  const ended = new Promise((resolve) => parser.on('end', resolve).on('error', resolve));
  parser.on('error', ({ message }) => (flaw ??= toFlaw(message)));
  parser.on('eof', () => (hasEnded = true));
  // Not by the parser itself: it would unpack whole chunks, which may become a thousand times as large, before it looks at any.
  for await (const chunk of createReadStream(file).pipe(createGunzip())) {
    parser.write(chunk);
    unpackedBytes += chunk.length;
    if (unpackedBytes > MOST_BYTES) flaw ??= `unpacked it takes more than ${MOST_BYTES} bytes`;
    // What stands behind the end of an archive counts for nothing.
    if (flaw !== null || hasEnded) break;
  }
  if (flaw !== null) return;
  parser.end();
  await ended;
  if (found.files === 0) flaw ??= 'it holds no files';
}

function look(entry) {
  if (entry.type !== 'Directory') found.files += 1;
  found.bytes += entry.size;
  flaw ??= findFlaw(entry);
  entry.resume();
}

function findFlaw({ path, type, linkpath }) {
  if (!ALLOWED.has(type)) return `"${path}" is a ${type}; a source tree has files, directories and links`;
  if (isOutside(path)) return `"${path}" leads out of the tree`;
  if (type === 'Link' && isOutside(linkpath))
    return `"${path}" is a hard link to "${linkpath}", outside the tree`;
  if (found.files > maxFiles) return `it has more than ${maxFiles} files`;
  if (found.bytes > maxBytes) return `its files take more than ${maxBytes} bytes`;
  return null;
}

function toFlaw(message) {
  return `it cannot be read as a gzipped tar (${message})`;
}

function isOutside(name) {
  return name.startsWith('/') || name.split('/').includes('..');
}
