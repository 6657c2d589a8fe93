import { stat } from 'node:fs/promises';
import path from 'node:path';
import { entriesOf } from './folder.js';
import type { CheckpointBody } from './found-run.js';

const FILE = /\.(pt|pth|ckpt|safetensors|h5|keras|npz|msgpack)$/i;
const FOLDER = /^checkpoint-./;
const STEP = /(?:^|[-_.])(?:step|iter|iteration|global_step|checkpoint)[-_=]?(\d{1,15})(?!\d)/i;
/** Beyond this many files the size is not added up. */
const MAX_FILES = 10_000;
const MAX_DEPTH = 20;

/** Whether a name is that of a checkpoint. */
function isCheckpointName(name: string, isFolder: boolean): boolean {
  return isFolder ? FOLDER.test(name) : FILE.test(name);
}

/** The checkpoints in a folder and below it, by path. Nothing when there is no such folder. */
export async function findCheckpoints(folder: string): Promise<CheckpointBody[]> {
  const found: CheckpointBody[] = [];
  const waiting = [{ folder, depth: 0 }];
  for (let next = waiting.pop(); next && found.length < MAX_FILES; next = waiting.pop()) {
    for (const { name, isFolder } of await entriesOf(next.folder)) {
      const place = path.join(next.folder, name);
      if (isCheckpointName(name, isFolder)) found.push(await toCheckpoint(place, isFolder));
      else if (isFolder && next.depth < MAX_DEPTH) waiting.push({ folder: place, depth: next.depth + 1 });
    }
  }
  return found.sort((a, b) => (a.step ?? -1) - (b.step ?? -1) || (a.path < b.path ? -1 : 1));
}

/** The checkpoint at that absolute path, with the step that its name has. */
export async function toCheckpoint(place: string, isFolder: boolean): Promise<CheckpointBody> {
  const step = STEP.exec(path.basename(place))?.[1];
  const size = isFolder ? await sizeOfFolder(place) : (await stat(place)).size;
  return {
    path: place,
    ...(step !== undefined && { step: Number(step) }),
    ...(size !== null && { size }),
  };
}

/** In bytes; null for a folder of too many files. */
async function sizeOfFolder(folder: string): Promise<number | null> {
  const waiting = [folder];
  let [size, files] = [0, 0];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const { name, isFolder } of await entriesOf(next)) {
      if (++files > MAX_FILES) return null;
      if (isFolder) waiting.push(path.join(next, name));
      else size += (await stat(path.join(next, name))).size;
    }
  return size;
}
