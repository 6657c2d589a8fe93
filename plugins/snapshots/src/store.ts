import type { Snapshot } from '@svc/contract';
import type { Db } from '@svc/kernel';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The rows of snapshots, and their files: `<data dir>/snapshots/<sha256>.tar.gz`. A file is there before its row, and goes after it. */
export class SnapshotStore {
  constructor(readonly directory: string) {}

  fileOf(sha256: string): string {
    return join(this.directory, `${sha256}.tar.gz`);
  }

  async find(db: Db, sha256: string): Promise<Snapshot | null> {
    const row = await db<Snapshot>('snapshots').where({ sha256 }).first();
    return row ?? null;
  }

  /** The row that stands: another upload of the same bytes may have been first. */
  async add(db: Db, snapshot: Snapshot): Promise<{ snapshot: Snapshot; isNew: boolean }> {
    const [added] = await db<Snapshot>('snapshots')
      .insert(snapshot)
      .onConflict('sha256')
      .ignore()
      .returning<Snapshot[]>('*');
    return {
      snapshot: added ?? (await this.find(db, snapshot.sha256)) ?? snapshot,
      isNew: added !== undefined,
    };
  }

  /** Uploaded before that time, in ms since the epoch, oldest first. */
  async olderThan(db: Db, before: number): Promise<Snapshot[]> {
    return db<Snapshot>('snapshots').where('created_at', '<', before).orderBy('created_at');
  }

  async remove(db: Db, sha256: string): Promise<void> {
    await db<Snapshot>('snapshots').where({ sha256 }).delete();
    await rm(this.fileOf(sha256), { force: true });
  }
}
