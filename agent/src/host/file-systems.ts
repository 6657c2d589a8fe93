import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

export interface FileSystem {
  /** Two directories of one file system have the same, whatever the paths. */
  readonly id: string;
  /** What it is called: the shortest of the places where it is mounted. */
  readonly mount: string;
  /** Where the directory sees it. */
  readonly at: string;
}

interface Mount {
  readonly id: string;
  readonly point: string;
}

/** The file systems on which the directories lie; null for one that is not there. */
export async function fileSystemsOf(dirs: readonly string[]): Promise<(FileSystem | null)[]> {
  const mounts = await loadMounts();
  const found: (FileSystem | null)[] = [];
  for (const dir of dirs) {
    const real = await realpath(dir).catch(() => null);
    found.push(real === null ? null : mounts === null ? await findByDevice(real) : findMount(mounts, real));
  }
  return found;
}

async function loadMounts(): Promise<readonly Mount[] | null> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => null);
  return table === null ? null : parseMounts(table);
}

/** Lines of `id parent major:minor root point …`. The numbers tell file systems apart, also subvolumes of Btrfs and bind mounts. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , id, , point] = line.split(' ');
    return id === undefined || point === undefined ? [] : [{ id, point: unescape(point) }];
  });
}

/** A mount covers those before it at the same point. */
export function findMount(mounts: readonly Mount[], dir: string): FileSystem | null {
  let covering: Mount | null = null;
  for (const mount of mounts)
    if (isWithin(dir, mount.point) && mount.point.length >= (covering?.point.length ?? 0)) covering = mount;
  if (covering === null) return null;
  const { id, point } = covering;
  const points = mounts.filter((mount) => mount.id === id).map((mount) => mount.point);
  const [shortest = point] = points.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return { id, mount: shortest, at: point };
}

function isWithin(dir: string, point: string): boolean {
  return dir === point || dir.startsWith(point.endsWith('/') ? point : `${point}/`);
}

/** `\040` is a space, as in fstab. */
function unescape(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}

/** On other systems than Linux: goes up as long as the device is the same. */
async function findByDevice(dir: string): Promise<FileSystem | null> {
  const deviceOf = (place: string) =>
    stat(place).then(
      ({ dev }) => dev,
      () => null,
    );
  const device = await deviceOf(dir);
  if (device === null) return null;
  let mount = dir;
  for (let above = path.dirname(mount); above !== mount; above = path.dirname(mount)) {
    if ((await deviceOf(above)) !== device) break;
    mount = above;
  }
  return { id: String(device), mount, at: mount };
}
