import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

export interface Entry {
  readonly path: string;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO';
  readonly content?: string | Buffer;
  readonly linkpath?: string;
  readonly mode?: number;
  /** Said to be so large; left out: that of `content`. */
  readonly size?: number;
}

const BLOCK = 512;

/** A gzipped tar of exactly these entries, also of such as no packer would write. */
export function toArchive(entries: readonly Entry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.flatMap(toBlocks), Buffer.alloc(2 * BLOCK)]));
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function readAll(stream: Readable): Promise<Buffer> {
  return buffer(stream);
}

function toBlocks({ path, type = 'File', content = '', linkpath, mode = 0o644, size }: Entry): Buffer[] {
  const bytes = Buffer.from(content);
  const header = new Header({
    path,
    type,
    mode,
    size: size ?? bytes.length,
    mtime: new Date(0),
    ...(linkpath !== undefined && { linkpath }),
  });
  const block = Buffer.alloc(BLOCK);
  header.encode(block);
  const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
  return [block, bytes, padding];
}
