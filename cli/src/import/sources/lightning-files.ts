import path from 'node:path';
import { findCheckpoints } from '../reading/checkpoint-files.js';
import { readText, writtenAt } from '../reading/files.js';
import type { Folder } from '../reading/folder.js';
import type { Finding } from '../reading/found-run.js';
import type { Skips } from '../reading/skips.js';
import { parseYaml } from '../reading/yaml.js';
import { isFields, type Fields } from '../reading/values.js';

const HPARAMS = 'hparams.yaml';
const HPARAMS_BYTES = 1024 * 1024;

/** The hyperparameters that a logger of Lightning has written beside its metrics, and when. Nothing without the file. */
export async function readHparams(
  { path: folder, files }: Folder,
  skips: Skips,
): Promise<{ config?: Fields; writtenAt?: number }> {
  if (!files.includes(HPARAMS)) return {};
  const place = path.join(folder, HPARAMS);
  const at = await writtenAt(place);
  try {
    const config = await parseYaml(await readText(place, HPARAMS_BYTES));
    return { writtenAt: at, ...(isFields(config) && { config }) };
  } catch (error) {
    skips.add(`the hyperparameters cannot be read: ${(error as Error).message}`, HPARAMS);
    return { writtenAt: at };
  }
}

/** The checkpoints that lie beside the metrics, where Lightning writes them. */
export async function* checkpointsBeside(folder: Folder): AsyncGenerator<Finding> {
  if (!folder.folders.includes('checkpoints')) return;
  for (const body of await findCheckpoints(path.join(folder.path, 'checkpoints')))
    yield { kind: 'checkpoint', body };
}
