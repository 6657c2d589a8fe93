import path from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { findCheckpoints } from '../reading/checkpoint-files.js';
import { readText, readWholeLines, writtenAt } from '../reading/files.js';
import type { Folder } from '../reading/folder.js';
import { Unreadable, type Finding } from '../reading/found-run.js';
import type { Skips } from '../reading/skips.js';
import { parseYaml } from '../reading/yaml.js';
import { isFields, type Fields } from '../reading/values.js';

export const METRICS = 'metrics.csv';
const ROW_BYTES = 1024 * 1024;
const HPARAMS = 'hparams.yaml';
const HPARAMS_BYTES = 1024 * 1024;

/** The rows of metrics.csv, the names of the columns first, without an unfinished last line. Throws Unreadable. */
export async function* readRows(file: string): AsyncGenerator<string[], void> {
  const options = { bom: true, relax_column_count: true, skip_empty_lines: true, max_record_size: ROW_BYTES };
  const { CsvError, parse } = await import('csv-parse');
  // An error of the file ends the parser with it.
  const parser = pipeline(Readable.from(readWholeLines(file)), parse(options), () => undefined);
  try {
    for await (const row of parser) yield row as string[];
  } catch (error) {
    if (error instanceof CsvError) throw new Unreadable(`${file}: ${error.message}`);
    throw error;
  }
}

/** Why the metrics.csv of the folder is none that a logger of Lightning wrote; null when it may be one. */
export async function whyForeign({ path: folder }: Folder): Promise<string | null> {
  for await (const names of readRows(path.join(folder, METRICS)))
    return names.includes('step')
      ? null
      : `it has no column "step", which the CSVLogger of Lightning writes; if it holds your metrics, name the column of the steps "step" and import again`;
  return 'it has no whole line yet; import again once it has been written to';
}

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
