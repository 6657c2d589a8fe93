import type { Stats } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Content } from './content.js';
import { progressOf, type NamedProgress } from './checkpoint-name.js';

const MAX_BYTES = 64 * 1024 * 1024;

/** Step and epoch: of `trainer_state.json` (Hugging Face) in the checkpoint, otherwise of its name. */
export async function readProgress(content: Content): Promise<NamedProgress> {
  const named = progressOf(path.basename(content.path));
  const isFile = content.members.length === 1 && content.members[0]!.path === content.path;
  return isFile ? named : { ...named, ...(await readState(path.join(content.path, 'trainer_state.json'))) };
}

async function readState(file: string): Promise<NamedProgress> {
  try {
    const stats: Stats = await lstat(file);
    if (!stats.isFile() || stats.size > MAX_BYTES) return {};
    const { global_step, epoch } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    return {
      ...(Number.isSafeInteger(global_step) && { step: global_step as number }),
      ...(Number.isFinite(epoch) && { epoch: epoch as number }),
    };
  } catch {
    return {};
  }
}
