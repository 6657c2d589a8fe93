import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';

export interface SdkSources {
  /** Holds `svc.py`, which finds the `svc` to import. */
  readonly entry: string;
  /** Holds the package `svc`. */
  readonly sdk: string;
}

interface SdkFile {
  readonly name: string;
  readonly content: Buffer;
}

/**
 * Copies the SDK below that directory, and returns the folder for the end of PYTHONPATH. The copy is readable by the users of jobs, who may not be able
 * to enter the installation, and its path depends on the content: an upgrade of the agent changes nothing for a job that runs.
 */
export async function installSdk(sources: SdkSources, directory: string): Promise<string> {
  const files = await readFiles(sources);
  const copy = path.join(directory, hashOf(files));
  if (copy.includes(path.delimiter))
    throw new Error(`PYTHONPATH cannot name ${copy}: it contains "${path.delimiter}"`);
  const folders = files.flatMap(({ name }) => foldersAbove(name));
  for (const folder of ['..', '.', ...new Set(folders)]) await makeReadable(path.join(copy, folder));
  for (const file of files) await replace(path.join(copy, file.name), file.content);
  return path.join(copy, 'entry');
}

/** The modules of both, by their names in the copy. */
async function readFiles({ entry, sdk }: SdkSources): Promise<SdkFile[]> {
  const names = (await readdir(path.join(sdk, 'svc'), { recursive: true }))
    .filter((name) => /\.py$|^py\.typed$/.test(name))
    .sort();
  const sources = [
    { name: 'entry/svc.py', file: path.join(entry, 'svc.py') },
    ...names.map((name) => ({ name: `sdk/svc/${name}`, file: path.join(sdk, 'svc', name) })),
  ];
  return Promise.all(sources.map(async ({ name, file }) => ({ name, content: await readFile(file) })));
}

/** `a/b/c.py` lies in `a` and `a/b`. */
function foldersAbove(name: string): string[] {
  const folder = path.dirname(name);
  return folder === '.' ? [] : [...foldersAbove(folder), folder];
}

function hashOf(files: readonly SdkFile[]): string {
  const hash = createHash('sha256');
  for (const { name, content } of files) hash.update(`${name}\0${content.length}\0`).update(content);
  return hash.digest('hex').slice(0, 16);
}

/** Also where the umask of the agent hides what it makes. */
async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
}

/** In one step: a job may be reading the same file. */
async function replace(file: string, content: Buffer): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await chmod(temporary, 0o444);
  await rename(temporary, file);
}
