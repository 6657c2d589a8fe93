import { open } from 'node:fs/promises';

/** What was created, renamed or linked in the directory outlives a crash of the host from now on. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
