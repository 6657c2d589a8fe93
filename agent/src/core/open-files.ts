import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

/** Linux: O_WRONLY and O_RDWR. */
const WRITING = 0o3;

export interface OpenFile {
  readonly pid: string;
  readonly path: string;
  readonly isWritten: boolean;
}

/** Files that processes of this host have open, at that path or below it; of the processes that this one may look into. None but on Linux. */
export async function openFilesAt(place: string): Promise<OpenFile[]> {
  const open: OpenFile[] = [];
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of await readdir(folder).catch(() => [])) {
      const target = await readlink(path.join(folder, descriptor)).catch(() => '');
      if (target !== place && !target.startsWith(`${place}/`)) continue;
      open.push({ pid, path: target, isWritten: await isWritten(pid, descriptor) });
    }
  }
  return open;
}

/** Whether the process has it open for writing. */
export async function isWritten(pid: string, descriptor: string): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8').catch(() => '');
  return (Number.parseInt(/^flags:\s*(\d+)/m.exec(text)?.[1] ?? '0', 8) & WRITING) !== 0;
}
