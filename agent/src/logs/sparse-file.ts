import { execFile } from 'node:child_process';
import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TRIAL_BYTES = 256 * 1024;

/** What the file holds on its disk, in bytes: holes take nothing. */
export const toHeldBytes = ({ blocks }: { blocks: number }): number => blocks * 512;

/**
 * Gives the disk back what the first `bytes` of the file take. Offsets and size stay, and who appends to it goes on. Rejects
 * where the file system, or the host, cannot do that.
 */
export async function punchHole(file: string, bytes: number): Promise<void> {
  await run('fallocate', ['--punch-hole', '--keep-size', '--offset', '0', '--length', `${bytes}`, file]);
}

/** null when holes can be punched in files of that directory, else why not. */
export async function findHoleProblem(dir: string): Promise<string | null> {
  const file = path.join(dir, `hole-${process.pid}.tmp`);
  const handle = await open(file, 'w', 0o600);
  try {
    // Takes no room, so what is refused here is known on a full disk too.
    await handle.truncate(TRIAL_BYTES);
    const refusal = await punchHole(file, TRIAL_BYTES).then(() => null, toRefusal);
    if (refusal !== null) return refusal;
    // On a full disk this cannot be tried out, and is taken for granted.
    const isFreed = (await freesRoom(file, handle).catch(unlessFull)) ?? true;
    return isFreed ? null : 'a hole takes as much room as what was there';
  } finally {
    await handle.close();
    await rm(file, { force: true });
  }
}

async function freesRoom(file: string, handle: FileHandle): Promise<boolean> {
  await handle.writeFile(Buffer.alloc(TRIAL_BYTES, 1));
  await handle.sync();
  const before = toHeldBytes(await handle.stat());
  await punchHole(file, TRIAL_BYTES);
  return toHeldBytes(await handle.stat()) < before;
}

/** For `catch`: null when the disk is full. */
export function unlessFull(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return null;
  throw error;
}

function toRefusal(error: NodeJS.ErrnoException & { stderr?: string }): string {
  if (error.code === 'ENOENT') return 'the program fallocate is not installed';
  return error.stderr?.trim() || error.message;
}
