import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFolder, type Folder } from './reading/folder.js';
import type { FoundRun } from './reading/found-run.js';
import type { LeftOut, Recognised, Source } from './reading/source.js';
import { huggingFace } from './sources/hugging-face.js';
import { lightning } from './sources/lightning.js';
import { mlflowDatabase } from './sources/mlflow/database.js';
import { mlflowFolder } from './sources/mlflow/store-folder.js';
import { svcOffline } from './sources/svc-offline.js';
import { tensorboard } from './sources/tensorboard.js';
import { wandb } from './sources/wandb/wandb.js';

const SOURCES: readonly Source[] = [
  svcOffline,
  wandb,
  mlflowFolder,
  mlflowDatabase,
  huggingFace,
  lightning,
  tensorboard,
];

export interface Found {
  readonly runs: readonly FoundRun[];
  readonly leftOut: readonly LeftOut[];
}

/** The trainings in a directory and below it, by path; or in one file. Links are not followed. Throws the error of the file system when it is not there. */
export async function findRuns(given: string): Promise<Found> {
  const [runs, leftOut]: [FoundRun[], LeftOut[]] = [[], []];
  const root = await realpath(given);
  const waiting = (await stat(root)).isDirectory() ? [root] : [];
  if (waiting.length === 0) await look(toFolderOfFile(root));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = await attempt(next, () => readFolder(root, next as string, isWanted));
    if (folder === null) continue;
    const left = await look(folder);
    // The last one is taken first.
    waiting.push(...left.map((name) => path.join(folder.path, name)).reverse());
  }
  return { runs, leftOut };

  /** The folders below that are to be looked at. */
  async function look(folder: Folder): Promise<readonly string[]> {
    let left = folder.folders;
    for (const source of SOURCES) {
      if (!folder.files.some((file) => source.files.test(file)) && source !== huggingFace) continue;
      const recognised = await attempt<Recognised | null>(folder.path, () => source.recognise(folder));
      if (recognised === null) continue;
      runs.push(...recognised.runs);
      leftOut.push(...(recognised.leftOut ?? []));
      const { claims } = recognised;
      left = claims === 'all' ? [] : left.filter((name) => !claims.includes(name));
    }
    if (folder.links > 0)
      leftOut.push({ path: folder.path, reason: `${folder.links} links, which are not followed` });
    return left;
  }

  async function attempt<T>(place: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      leftOut.push({ path: place, reason: `cannot be read: ${(error as Error).message}`, isFailure: true });
      return null;
    }
  }
}

function isWanted(file: string): boolean {
  return SOURCES.some((source) => source.files.test(file));
}

function toFolderOfFile(file: string): Folder {
  const folder = path.dirname(file);
  return { path: folder, root: folder, files: [path.basename(file)], folders: [], links: 0 };
}
