// Reads a gzipped tar that somebody has uploaded. A thread of its own: unpacking keeps a processor busy, and a hostile archive for long.
// Plain JavaScript: a worker of a server that runs from source could not load TypeScript.
import { parentPort, workerData } from 'node:worker_threads';
import { Parser } from 'tar';
import { feedArchive } from './feed-archive.mjs';
import { TreeCheck } from './tree-check.mjs';

/** Of a file's header and what fills its last block. */
const HEADER_BYTES = 2048;

const { file, maxFiles, maxBytes } = workerData;
const tree = new TreeCheck({ maxFiles, maxBytes });
let flaw = null;
try {
  const mostBytes = maxBytes + maxFiles * HEADER_BYTES;
  await feedArchive(file, new Parser({ strict: true, onReadEntry: look }), { mostBytes });
  if (tree.files === 0) flaw = 'it holds no files';
} catch ({ message }) {
  flaw ??= `it cannot be read as a gzipped tar (${message})`;
}
parentPort.postMessage({ flaw, files: tree.files });

function look(entry) {
  flaw ??= tree.add(entry);
  if (flaw !== null) throw new Error(flaw);
  entry.resume();
}
