import { maskedCrc32c } from './crc32c.js';

/**
 * A TFRecord is: length (8 bytes), its masked CRC32C (4), the data, their masked CRC32C (4).
 * This is what lies around the data.
 */
const HEADER_BYTES = 12;
const FOOTER_BYTES = 4;

/** A longer record holds images, a graph and the like, and is passed over unread. Must hold: what a record of this size becomes is little memory for an agent. */
export const RECORD_LIMIT_BYTES = 1024 * 1024;

/** Behind so many bytes without a valid record, they are given up; fewer may still be on their way to the disk. */
const LOST_BYTES = 1024 * 1024;

export interface ReadRecords {
  /** Bytes that are dealt with: the next call begins behind them. */
  read: number;
  /** Gaps of bytes that are no valid record. */
  corrupt: number;
  /** Bytes of the next record, from `read` on; more than RECORD_LIMIT_BYTES: it is to be passed over. 0: not known. */
  need: number;
}

/**
 * Calls `onRecord` with the place of the data of each valid record. `bytes` begin where a record begins. A record that is cut off at the end
 * is left for the next call, with more bytes; so is one that is not valid, until a valid one lies behind it.
 */
export function readRecords(bytes: Uint8Array, onRecord: (start: number, end: number) => void): ReadRecords {
  let read = 0;
  let corrupt = 0;
  for (;;) {
    if (read + HEADER_BYTES > bytes.length) return { read, corrupt, need: HEADER_BYTES };
    const size = validHeader(bytes, read) ? sizeAt(bytes, read) : null;
    const isHere = size !== null && size <= RECORD_LIMIT_BYTES && read + size <= bytes.length;
    if (size !== null && !isHere) return { read, corrupt, need: size };
    if (size !== null && validData(bytes, read, size)) {
      onRecord(read + HEADER_BYTES, read + size - FOOTER_BYTES);
      read += size;
      continue;
    }
    const next = nextHeader(bytes, read, size);
    if (next === null) {
      const isLost = bytes.length - read > LOST_BYTES;
      return isLost
        ? { read: bytes.length - HEADER_BYTES + 1, corrupt: corrupt + 1, need: HEADER_BYTES }
        : { read, corrupt, need: 0 };
    }
    corrupt++;
    read = next;
  }
}

/** Behind what is not valid: where its length says, else the next place that looks like the beginning of a record. */
function nextHeader(bytes: Uint8Array, from: number, size: number | null): number | null {
  if (size !== null && validHeader(bytes, from + size)) return from + size;
  for (let at = from + 1; at + HEADER_BYTES <= bytes.length; at++) if (validHeader(bytes, at)) return at;
  return null;
}

function validHeader(bytes: Uint8Array, at: number): boolean {
  return at + HEADER_BYTES <= bytes.length && maskedCrc32c(bytes, at, at + 8) === int32(bytes, at + 8);
}

/** Bytes of the whole record. Not exact above 2^53, where it is too long in any case. */
function sizeAt(bytes: Uint8Array, at: number): number {
  const length = (int32(bytes, at + 4) >>> 0) * 2 ** 32 + (int32(bytes, at) >>> 0);
  return HEADER_BYTES + length + FOOTER_BYTES;
}

function validData(bytes: Uint8Array, at: number, size: number): boolean {
  const end = at + size - FOOTER_BYTES;
  return maskedCrc32c(bytes, at + HEADER_BYTES, end) === int32(bytes, end);
}

function int32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
