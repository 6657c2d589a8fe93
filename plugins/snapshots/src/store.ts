import type { Snapshot } from '@svc/contract';
import { syncDirectory, type Db, type Transact } from '@svc/kernel';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Received } from './receive.js';
import { Turns } from './turns.js';

/** `used_at`: when it was uploaded or asked for by somebody who may submit a job, last. In ms since the epoch. */
type SnapshotRow = Snapshot & { readonly used_at: number };

const FILE = /^([0-9a-f]{64})\.tar\.gz(\.damaged)?$/;
const COLUMNS = ['sha256', 'size', 'files', 'created_at'] as const;

/**
 * The rows of snapshots, and their files: `<data dir>/snapshots/<sha256>.tar.gz`. A file is there before its row, and goes after it. Must
 * hold: what changes the file of a snapshot takes its turn, so that no removal meets a file that has just been uploaded.
 */
export class SnapshotStore {
  readonly #turns = new Turns();

  constructor(readonly directory: string) {}

  fileOf(sha256: string): string {
    return join(this.directory, `${sha256}.tar.gz`);
  }

  async find(db: Db, sha256: string): Promise<Snapshot | null> {
    return (
      (await db<SnapshotRow>('snapshots')
        .where({ sha256 })
        .first(...COLUMNS)) ?? null
    );
  }

  /** Whether its file is there and has the size that it should have. */
  async isWhole({ sha256, size }: Snapshot): Promise<boolean> {
    const found = await stat(this.fileOf(sha256)).catch(() => null);
    return found?.size === size;
  }

  /** Gives the file that was received its name and its row. It replaces one that is there, which may be damaged. */
  keep(
    db: Db,
    { file, ...received }: Received,
    now: number,
  ): Promise<{ readonly snapshot: Snapshot; readonly isNew: boolean }> {
    const { sha256 } = received;
    return this.#turns.take(sha256, async () => {
      await rename(file, this.fileOf(sha256));
      await rm(this.#damagedOf(sha256), { force: true });
      await syncDirectory(this.directory);
      try {
        const known = await this.find(db, sha256);
        const snapshot = known ?? { ...received, created_at: now };
        const row = { ...snapshot, used_at: now };
        await db<SnapshotRow>('snapshots').insert(row).onConflict('sha256').merge(['used_at']);
        return { snapshot, isNew: known === null };
      } catch (error) {
        await this.#removeUnnamed(db, sha256);
        throw error;
      }
    });
  }

  /** Removes the files of snapshots without a row: a server that died, or a full disk, left them. */
  async removeOrphans(db: Db): Promise<void> {
    const names = await readdir(this.directory).catch(() => []);
    for (const name of names) {
      const sha256 = FILE.exec(name)?.[1];
      if (sha256 !== undefined) await this.#turns.take(sha256, () => this.#removeUnnamed(db, sha256));
    }
  }

  async #removeUnnamed(db: Db, sha256: string): Promise<void> {
    if ((await this.find(db, sha256)) === null) await this.#removeFiles(sha256);
  }

  async #removeFiles(sha256: string): Promise<void> {
    await rm(this.fileOf(sha256), { force: true });
    await rm(this.#damagedOf(sha256), { force: true });
  }

  /** From now on it counts as young again: somebody is about to submit a job with it. */
  async renew(db: Db, sha256: string, now: number): Promise<void> {
    await db<SnapshotRow>('snapshots').where({ sha256 }).update({ used_at: now });
  }

  /** Whether it is there; then it stays until the transaction ends. */
  async hold(tx: Db, sha256: string): Promise<boolean> {
    const row = await tx<SnapshotRow>('snapshots').where({ sha256 }).forKeyShare().first('sha256');
    return row !== undefined;
  }

  /** Not used since that time, in ms since the epoch; oldest first. */
  async unusedSince(db: Db, before: number): Promise<Snapshot[]> {
    return db<SnapshotRow>('snapshots')
      .where('used_at', '<', before)
      .orderBy('used_at')
      .select(...COLUMNS);
  }

  /** Removes it, unless it was used after `before` or is in use; returns whether it did. */
  remove(
    transact: Transact,
    sha256: string,
    before: number,
    isInUse: (tx: Db) => Promise<boolean>,
  ): Promise<boolean> {
    return this.#turns.take(sha256, async () => {
      const isRemoved = await transact(async (tx) => {
        const old = () => tx<SnapshotRow>('snapshots').where({ sha256 }).where('used_at', '<', before);
        if ((await old().forUpdate().first('sha256')) === undefined || (await isInUse(tx))) return false;
        return (await old().delete()) > 0;
      });
      if (isRemoved) await this.#removeFiles(sha256);
      return isRemoved;
    });
  }

  /** Takes its name from a damaged file, unless another upload has replaced it; returns its new one. `inode` is that of the file. */
  setAside(sha256: string, inode: bigint): Promise<string | null> {
    return this.#turns.take(sha256, async () => {
      const found = await stat(this.fileOf(sha256), { bigint: true }).catch(() => null);
      if (found?.ino !== inode) return null;
      await rename(this.fileOf(sha256), this.#damagedOf(sha256));
      return this.#damagedOf(sha256);
    });
  }

  #damagedOf(sha256: string): string {
    return `${this.fileOf(sha256)}.damaged`;
  }
}
