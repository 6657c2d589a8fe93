import { open, type FileHandle } from 'node:fs/promises';
import { isMissing } from '../core/durable-file.js';

/** So many of a file's first bytes tell it from what a job has written since it emptied it. */
const FIRST_BYTES = 256;
const NO_BYTES: Buffer = Buffer.alloc(0);

/** How far a file has grown, and when it last did. */
interface FileSize {
  readonly size: number;
  /** In ms since the epoch. */
  readonly mtimeMs: number;
}

/** What one read found. Positions are those of the file. */
export interface FileRead {
  readonly position: number;
  /** A view of the reader's buffer: valid until that is used again. */
  readonly bytes: Buffer;
  /** The file has everything that was read of it before. */
  readonly isWhole: boolean;
  /** Its first bytes, as far as they were read before. */
  readonly firstBytes: Buffer;
}

/** The file of a log as it is read: it is not there before its process is, grows, and may be emptied by the job. */
export class LogFile {
  #handle: FileHandle | null = null;
  /** As far as they are known. */
  #firstBytes: Buffer = NO_BYTES;

  constructor(readonly path: string) {}

  /** null: it is not there yet. */
  async stat(): Promise<FileSize | null> {
    const file = await this.#open();
    return file === null ? null : file.stat();
  }

  /** Must hold: the beginning is looked at after the read, so that what was read before the file was emptied is known as such. */
  async read(buffer: Buffer, position: number): Promise<FileRead> {
    const file = await this.#open();
    if (file === null) return { position, bytes: NO_BYTES, isWhole: true, firstBytes: NO_BYTES };
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    const bytes = buffer.subarray(0, bytesRead);
    if (position === 0) return { position, bytes, isWhole: true, firstBytes: NO_BYTES };
    const firstBytes = Buffer.alloc(Math.min(FIRST_BYTES, position));
    const { size } = await file.stat();
    const first = await file.read(firstBytes, 0, firstBytes.length, 0);
    return {
      position,
      bytes,
      isWhole: size >= position && first.bytesRead === firstBytes.length,
      firstBytes,
    };
  }

  /**
   * False when the job has emptied the file since it was read before; else remembers how it begins. A hole in its beginning
   * hides that: then its size alone tells.
   */
  isSame(read: FileRead, hasHole: boolean): boolean {
    const { position, bytes, isWhole, firstBytes } = read;
    if (position === 0) this.#firstBytes = Buffer.from(bytes.subarray(0, FIRST_BYTES));
    if (!isWhole || hasHole || position === 0) return isWhole;
    const known = this.#firstBytes.subarray(0, firstBytes.length);
    if (!firstBytes.subarray(0, known.length).equals(known)) return false;
    if (firstBytes.length > known.length) this.#firstBytes = firstBytes;
    return true;
  }

  /** It has been emptied: what comes begins anew. */
  forgetBeginning(): void {
    this.#firstBytes = NO_BYTES;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close().catch(() => {});
  }

  /** null: it is not there yet. */
  async #open(): Promise<FileHandle | null> {
    try {
      return (this.#handle ??= await open(this.path, 'r'));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }
}
