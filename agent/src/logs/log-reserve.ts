import { link, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { unlessMissing, writeDurable } from '../core/durable-file.js';
import { toHeldBytes } from './sparse-file.js';

const RESERVE_BYTES = 4096;

/** A file that holds one block of the disk, so that another small file can be replaced durably when there is no room. */
export class LogReserve {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }
  /** Has it there, as soon as the disk has room for it. */
  async ensure(): Promise<void> {
    const reserve = await stat(this.#file).catch(unlessMissing);
    // On a full disk a file can be made, and holds nothing.
    if (reserve !== null && reserve.size > 0 && toHeldBytes(reserve) > 0) return;
    await writeFile(this.#file, Buffer.alloc(RESERVE_BYTES, 1), { mode: 0o600 }).catch(unlessFull);
  }

  /** As `writeDurable`, for less than a block. On a full disk the file and the reserve change places. */
  async writeDurable(file: string, content: unknown): Promise<void> {
    try {
      await writeDurable(file, content);
    } catch (error) {
      unlessFull(error as NodeJS.ErrnoException);
      await this.#exchange(file, Buffer.from(JSON.stringify(content)));
    }
  }

  /** At every moment the file is the old one or the new. */
  async #exchange(file: string, bytes: Buffer): Promise<void> {
    const handle = await open(this.#file, 'r+');
    try {
      await handle.write(bytes, 0, bytes.length, 0);
      await handle.truncate(bytes.length);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const old = `${this.#file}.old`;
    await rm(old, { force: true });
    await link(file, old);
    await rename(this.#file, file);
    await rename(old, this.#file);
  }
}

function unlessFull(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOSPC') throw error;
}
