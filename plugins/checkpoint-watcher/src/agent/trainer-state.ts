import path from 'node:path';
import { progressOf, type NamedProgress } from './checkpoint-name.js';
import type { Content } from './content.js';
import { MAX_PARSED_BYTES, readRange, withFile } from '@svc/agent/file-ranges';

/** Of a longer file the steps are looked for so far from its head and its end: what lies between is the history of the log. */
const EDGE_BYTES = 64 * 1024;

/** Step and epoch: of `trainer_state.json` (Hugging Face) in the checkpoint, otherwise of its name. */
export async function readProgress(content: Content): Promise<NamedProgress> {
  const named = progressOf(path.basename(content.path));
  const isFile = content.members.length === 1 && content.members[0]!.path === content.path;
  return isFile ? named : { ...named, ...(await readState(path.join(content.path, 'trainer_state.json'))) };
}

async function readState(file: string): Promise<NamedProgress> {
  try {
    return await withFile(file, async (handle, size) => {
      if (size <= MAX_PARSED_BYTES)
        return toProgress(
          JSON.parse((await readRange(handle, 0, size)).toString()) as Record<string, unknown>,
        );
      const [head] = (await readRange(handle, 0, EDGE_BYTES)).toString().split('"log_history"') as [string];
      const tail = (await readRange(handle, size - EDGE_BYTES, EDGE_BYTES)).toString();
      return toProgress({
        global_step: valueIn(head, 'global_step') ?? valueIn(tail, 'global_step'),
        // Each entry of the history has an epoch too, so that of the tail may be another.
        epoch: valueIn(head, 'epoch'),
      });
    });
  } catch {
    return {};
  }
}

function toProgress({ global_step, epoch }: Record<string, unknown>): NamedProgress {
  return {
    ...(Number.isSafeInteger(global_step) && { step: global_step as number }),
    ...(Number.isFinite(epoch) && { epoch: epoch as number }),
  };
}

function valueIn(text: string, name: string): number | undefined {
  const digits = new RegExp(`"${name}"\\s{0,8}:\\s{0,8}([-+.\\deE]{1,40})`).exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
