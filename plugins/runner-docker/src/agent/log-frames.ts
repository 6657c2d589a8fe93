/** What a container wrote at once, as the engine keeps it: a line with its end, or a part of one. */
export interface LogMessage {
  readonly stream: 'stdout' | 'stderr';
  /** Seconds since the Unix epoch with nine decimals, which compares as text, and as the engine takes it for `since`. The parts of a line have the same. */
  readonly time: string;
  readonly bytes: Buffer;
}

const HEADER_BYTES = 8;
const STDERR = 2;
/** Far above what engines cut lines to. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const SPACE = 0x20;

/** Cuts the answer of `logs?timestamps=1` into messages: frames of a stream's number, a length and `TIME TEXT`. */
export class LogFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that are complete with this piece. Throws when it is no such answer. */
  push(piece: Buffer): LogMessage[] {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const messages: LogMessage[] = [];
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const size = bytes.readUInt32BE(at + 4);
      if (size > MAX_FRAME_BYTES) throw new Error(`the engine sends a log frame of ${size} bytes`);
      const end = at + HEADER_BYTES + size;
      if (end > bytes.length) break;
      messages.push(
        toMessage(bytes[at] === STDERR ? 'stderr' : 'stdout', bytes.subarray(at + HEADER_BYTES, end)),
      );
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return messages;
  }
}

function toMessage(stream: LogMessage['stream'], payload: Buffer): LogMessage {
  const space = payload.indexOf(SPACE);
  if (space < 0) throw new Error('the engine sends a log frame without a time');
  const time = toSeconds(payload.toString('latin1', 0, space));
  return { stream, time, bytes: payload.subarray(space + 1) };
}

/** Of RFC 3339, in any zone and with any number of decimals. */
function toSeconds(time: string): string {
  const milliseconds = Date.parse(time);
  if (Number.isNaN(milliseconds)) throw new Error(`the engine sends a log frame with the time ${time}`);
  const [, decimals = ''] = /\.(\d{1,9})/.exec(time) ?? [];
  return `${Math.floor(milliseconds / 1000)}.${decimals.padEnd(9, '0')}`;
}
