import { closeSync, constants, openSync, readSync } from 'node:fs';

const MAX_RECORD_BYTES = 8192;

/** `/dev/kmsg`, read on from where it was left; each reader sees all of it. Needs root or CAP_SYSLOG on most hosts. */
export class KernelLog {
  readonly #fd: number;
  readonly #record = Buffer.alloc(MAX_RECORD_BYTES);

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Throws when it may not be read. */
  static open(file = '/dev/kmsg'): KernelLog {
    return new KernelLog(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
  }

  /** The next record; null: there is no more for now. A record that was overwritten before it was read is an empty one. Never waits. */
  next(): string | null {
    try {
      const sizeBytes = readSync(this.#fd, this.#record, 0, MAX_RECORD_BYTES, null);
      return sizeBytes === 0 ? null : this.#record.toString('utf8', 0, sizeBytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPIPE' ? '' : null;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Of `priority,sequence,microseconds,flags;message`; null for what programs wrote there (facility above 0), which proves nothing. */
export function messageOfKernel(record: string): string | null {
  const end = record.indexOf(';');
  return end >= 0 && Number.parseInt(record, 10) < 8 ? record.slice(end + 1) : null;
}
