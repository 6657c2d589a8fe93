import { opendir, realpath } from 'node:fs/promises';
import path from 'node:path';

/** Such as `resnet/lightning_logs/version_0`: fewer would call many runs the same. */
const NAME_FOLDERS = 3;

/** One folder, with the files and folders that lie directly in it, by name. Links are neither. */
export interface Folder {
  /** Absolute, without links. */
  readonly path: string;
  /** The directory that is imported. */
  readonly root: string;
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Links to what lies elsewhere. */
  readonly links: number;
}

/** `isWanted` decides which files are kept: a folder of a data set may have millions. */
export async function readFolder(
  root: string,
  folder: string,
  isWanted: (file: string) => boolean,
): Promise<Folder> {
  const [files, folders]: [string[], string[]] = [[], []];
  let links = 0;
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) folders.push(entry.name);
    else if (entry.isFile() && isWanted(entry.name)) files.push(entry.name);
    else if (entry.isSymbolicLink() && (await leadsAway(root, path.join(folder, entry.name)))) links += 1;
  }
  return { path: folder, root, files: files.sort(), folders: folders.sort(), links };
}

/** A link to what lies below the root hides nothing; nor does one to what is not there. */
async function leadsAway(root: string, link: string): Promise<boolean> {
  const target = await realpath(link).catch(() => root);
  return target !== root && !target.startsWith(root + path.sep);
}

/** How a run is called that has only its folder: by the end of its path, the same from wherever it is imported. */
export function toRunName(folder: string): string {
  return folder.split(path.sep).slice(-NAME_FOLDERS).filter(Boolean).join('/') || 'run';
}

/** The regular files and the folders in a folder; none of one that is not there. */
export async function entriesOf(folder: string): Promise<{ name: string; isFolder: boolean }[]> {
  const entries: { name: string; isFolder: boolean }[] = [];
  try {
    for await (const entry of await opendir(folder))
      if (entry.isFile() || entry.isDirectory())
        entries.push({ name: entry.name, isFolder: entry.isDirectory() });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return entries;
}
