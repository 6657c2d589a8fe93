import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { ItemReader, type Item } from './items.js';
import { readRecords, RECORD_LIMIT_BYTES } from './records.js';

/** What was read in one piece. */
export interface Batch {
  items: Item[];
  /** Bytes of the file up to which everything is dealt with: where a later reading goes on. */
  offset: number;
  /** Places of this piece that hold no valid record and were passed over. */
  corrupt: number;
  /** The piece holds no valid record. */
  isNoise: boolean;
}

/** Larger pieces are slower: what they hold outlives the collection of short-lived objects. */
const PIECE_BYTES = 256 * 1024;

export interface ReadOptions {
  readonly from?: number;
  readonly mayRead?: (stats: Stats) => Promise<boolean>;
}

/** TensorBoard's own rule for which files it reads. */
export function isEventFileName(name: string): boolean {
  return name.includes('tfevents');
}

/** `add_hparams` of PyTorch makes a folder with the time as its name: it belongs to the run of the folder that it is in. */
export function isHParamsFolderName(name: string): boolean {
  return /^\d{10}\.\d+$/.test(name);
}

/**
 * Reads an event file of TensorBoard piece by piece, from byte `from` on, which is the `offset` of an earlier batch, up to its last whole
 * record. `mayRead` is asked about the open file; without its consent nothing is read. Memory: a few MiB, and what a record of 1 MiB holds. Throws the error of the file system, and an Error when the path is no regular file.
 */
export async function* readEventFile(
  path: string,
  { from = 0, mayRead = async () => true }: ReadOptions = {},
): AsyncGenerator<Batch, void> {
  // A link is not followed, and a pipe does not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    if (!(await mayRead(stats))) throw new Error(`${path} belongs to another user than the job's`);
    yield* readBatches(file, from);
  } finally {
    await file.close();
  }
}

async function* readBatches(file: FileHandle, from: number): AsyncGenerator<Batch, void> {
  let memory = Buffer.allocUnsafeSlow(PIECE_BYTES);
  let offset = from;
  for (;;) {
    const { bytesRead } = await file.read(memory, 0, memory.length, offset);
    const items: Item[] = [];
    const { read, corrupt, need, isNoise } = readPiece(memory.subarray(0, bytesRead), items);
    offset += read;
    if (read > 0) yield { items, offset, corrupt, isNoise };
    if (need > RECORD_LIMIT_BYTES) {
      if ((await file.stat()).size < offset + need) return;
      offset += need;
      yield { items: [], offset, corrupt: 0, isNoise: false };
      continue;
    }
    if (bytesRead < memory.length) return;
    if (need > memory.length || read === 0) {
      memory = Buffer.allocUnsafeSlow(Math.max(need, memory.length + PIECE_BYTES));
    }
  }
}

function readPiece(bytes: Buffer, items: Item[]) {
  const reader = new ItemReader(bytes);
  let unreadable = 0;
  let isNoise = true;
  const records = readRecords(bytes, (start, end) => {
    isNoise = false;
    if (!reader.read(start, end, items)) unreadable++;
  });
  return { ...records, corrupt: records.corrupt + unreadable, isNoise };
}
