import path from 'node:path';

/** A directory or file of the host and its place in a container; both are absolute. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly read_only: boolean;
}

/** Folders of the host, besides the working directory, that a job writes to. */
export function writtenFolders(mounts: readonly Mount[] | null): string[] {
  return (mounts ?? []).filter((mount) => !mount.read_only).map(({ source }) => source);
}

/** Where a container with these mounts sees that place of the host; null: nowhere. */
export function toPathInside(mounts: readonly Mount[], place: string): string | null {
  for (const mount of mounts.filter(({ source }) => covers(source, place))) {
    const inside = path.join(mount.target, path.relative(mount.source, place));
    if (innermostAt(mounts, inside) === mount) return inside;
  }
  return null;
}

/** A mount that lies in another hides what that one has there. */
function innermostAt(mounts: readonly Mount[], inside: string): Mount | undefined {
  const covering = mounts.filter(({ target }) => covers(target, inside));
  return covering.sort((a, b) => b.target.length - a.target.length)[0];
}

function covers(folder: string, place: string): boolean {
  const way = path.relative(folder, place);
  return way !== '..' && !way.startsWith('../');
}
