import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

/** A file system of its own, to be filled. */
export class SmallDisk {
  private constructor(readonly dir: string) {}

  /** As `mount`; null: that takes a user who may. */
  static tryMount(dir: string, sizeMb: number): SmallDisk | null {
    try {
      return SmallDisk.mount(dir, sizeMb);
    } catch {
      return null;
    }
  }

  /** Mounts it there. */
  static mount(dir: string, sizeMb: number): SmallDisk {
    mkdirSync(dir, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', dir], { stdio: 'ignore' });
    return new SmallDisk(dir);
  }

  /** Takes every byte that is left. */
  fill(): void {
    const file = openSync(this.#filler, 'w');
    for (const size of [65_536, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
    closeSync(file);
  }

  empty(): void {
    rmSync(this.#filler);
  }

  unmount(): void {
    execFileSync('umount', ['--lazy', this.dir], { stdio: 'ignore' });
  }

  get #filler(): string {
    return path.join(this.dir, 'filler');
  }
}

function writeUntilFull(file: number, bytes: Buffer): void {
  for (;;) {
    try {
      writeSync(file, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
