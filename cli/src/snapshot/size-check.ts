import { Failure } from '../failure.js';
import { toSize } from '../output/format.js';
import type { SourceFile, SourceTree } from './source-tree.js';

const MIB = 1024 * 1024;
/** Data and weights by their names; above this they are refused unless `.svcignore` wants them. */
const DATA =
  /\.(pt|pth|ckpt|safetensors|bin|onnx|gguf|h5|hdf5|npy|npz|parquet|arrow|feather|tfrecord|lmdb|db|sqlite|zip|tar|tgz|gz|zst|xz|7z|mp4|avi|mkv|wav|flac|iso)$/i;
const MAX_DATA_BYTES = 20 * MIB;
const MAX_FILE_BYTES = 100 * MIB;
const SHOWN = 5;

/** Throws Failure for a tree that holds data, or is too large: it says what is large and what to do. */
export function refuseData({ root, files }: SourceTree, maxBytes: number): void {
  const data = files.filter(isData);
  if (data.length > 0)
    throw new Failure(
      `${root} holds what looks like data, not source: ${nameLargest(data)}. Put it into ${root}/.svcignore, and read it from a path that the hosts share; a line such as !${data[0]?.name} there uploads it nevertheless`,
    );
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > maxBytes)
    throw new Failure(
      `${root} takes ${toSize(bytes)}, and a snapshot at most ${toSize(maxBytes)}. The largest: ${nameLargest(files)}. Put what is not source into ${root}/.svcignore, or raise --max-upload-mb`,
    );
}

function isData({ name, size, isWanted }: SourceFile): boolean {
  return !isWanted && size > (DATA.test(name) ? MAX_DATA_BYTES : MAX_FILE_BYTES);
}

function nameLargest(files: readonly SourceFile[]): string {
  const largest = [...files].sort((a, b) => b.size - a.size).slice(0, SHOWN);
  return largest.map(({ name, size }) => `${name} (${toSize(size)})`).join(', ');
}
