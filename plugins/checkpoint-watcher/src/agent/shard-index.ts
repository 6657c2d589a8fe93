import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { readRange, withFile } from '@svc/agent/file-ranges';

/** That of a model with 90 000 tensors has 9 MB. */
const MAX_INDEX_BYTES = 32 * 1024 * 1024;
/** Read at once, with a rest of the piece before it. */
const PIECE_BYTES = 256 * 1024;
const REST_BYTES = 300;
/** A value of `weight_map`. */
const SHARD_NAME = /:\s{0,8}"([^"\\]{1,243}\.safetensors)"/g;

/**
 * The names of the files of a checkpoint, which its index maps each tensor to. null: it is not whole, or no index that can be used. Of at most `most` files,
 * which lie beside the index: a way to elsewhere is none. It is read in pieces, as it may be long.
 */
export async function shardNames(index: string, most: number): Promise<string[] | null> {
  try {
    const names = await withFile(index, (handle, size) => readNames(handle, size, most));
    const areNames = names.length > 0 && names.every((name) => path.basename(name) === name);
    return areNames ? names : null;
  } catch {
    return null;
  }
}

async function readNames(handle: FileHandle, size: number, most: number): Promise<string[]> {
  if (size > MAX_INDEX_BYTES) return [];
  const names = new Set<string>();
  let rest = '';
  for (let from = 0; from < size; from += PIECE_BYTES) {
    const text = rest + (await readRange(handle, from, PIECE_BYTES)).toString('latin1');
    for (const [, name] of text.matchAll(SHARD_NAME)) names.add(Buffer.from(name!, 'latin1').toString());
    if (names.size > most) return [];
    rest = text.slice(-REST_BYTES);
  }
  return rest.trimEnd().endsWith('}') ? [...names] : [];
}
