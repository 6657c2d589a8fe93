import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface LogCount {
  readonly log_files: number;
  readonly log_bytes: number;
}

export const NO_LOGS: LogCount = { log_files: 0, log_bytes: 0 };

const RETRIES = 10;

/** The log folders of jobs: `<dataDir>/logs/<job_id>`. */
export class LogFolders {
  constructor(private readonly directory: string) {}

  async count(jobId: string): Promise<LogCount> {
    const files = await list(join(this.directory, jobId));
    const sizes = await Promise.all(files.map((name) => sizeOf(join(this.directory, jobId, name))));
    return { log_files: files.length, log_bytes: sizes.reduce((sum, size) => sum + size, 0) };
  }

  /** The log of an attempt that has just ended may be compressed at that moment, which writes to the folder. */
  async remove(jobId: string): Promise<void> {
    await rm(join(this.directory, jobId), { recursive: true, force: true, maxRetries: RETRIES });
  }

  /** Ids of jobs that have a folder which has not changed since `before`, in ms. */
  async unchangedSince(before: number): Promise<string[]> {
    const found: string[] = [];
    for (const name of (await list(this.directory)).filter((name) => /^job_\w{26}$/.test(name))) {
      if ((await changedAt(join(this.directory, name))) < before) found.push(name);
    }
    return found;
  }
}

async function list(directory: string): Promise<string[]> {
  return readdir(directory).catch(orWhenMissing([]));
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(({ size }) => size, orWhenMissing(0));
}

/** Of the folder and everything in it. */
async function changedAt(folder: string): Promise<number> {
  const paths = [folder, ...(await list(folder)).map((name) => join(folder, name))];
  const times = await Promise.all(
    paths.map((path) => stat(path).then(({ mtimeMs }) => mtimeMs, orWhenMissing(0))),
  );
  return Math.max(...times);
}

/** Compressed or removed meanwhile. */
function orWhenMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
    throw error;
  };
}
