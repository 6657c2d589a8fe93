import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

/** Linux: O_WRONLY and O_RDWR. */
const WRITING = 0o3;

/**
 * Those of the places which a process of this host has open for writing, or a file below them; of the processes that this one may look into. None
 * but on Linux.
 */
export async function placesWritten(places: readonly string[]): Promise<Set<string>> {
  const wanted = new Set(places);
  const written = new Set<string>();
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of await readdir(folder).catch(() => [])) {
      const target = await readlink(path.join(folder, descriptor)).catch(() => '');
      const above = target.startsWith('/') ? withParents(target).filter((place) => wanted.has(place)) : [];
      if (above.length > 0 && (await isWritten(pid, descriptor)))
        for (const place of above) written.add(place);
    }
  }
  return written;
}

function withParents(place: string): string[] {
  const parent = path.dirname(place);
  return parent === place ? [place] : [place, ...withParents(parent)];
}

/** Whether the process has it open for writing. */
export async function isWritten(pid: string, descriptor: string): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8').catch(() => '');
  return (Number.parseInt(/^flags:\s*(\d+)/m.exec(text)?.[1] ?? '0', 8) & WRITING) !== 0;
}
