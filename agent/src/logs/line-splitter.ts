import { MAX_LINE_BYTES } from '@svc/contract/protocol';
import { StringDecoder } from 'node:string_decoder';

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/** Lines with the file offset behind each: `ends[i]` belongs to `texts[i]`, when texts are asked for. */
export interface Lines {
  readonly texts: string[];
  readonly ends: number[];
}

/**
 * Cuts the bytes of a log file into lines. A pure function of the bytes behind the offset it starts at: however they are
 * chunked, the lines are the same, and starting afresh at any line's end gives the lines that would have followed.
 *
 * A line ends at LF, or CR LF. A CR within a line starts it again, so that a progress bar leaves its last state. More than
 * MAX_LINE_BYTES without either is cut into pieces of at most that, not within a UTF-8 character. Invalid UTF-8 is replaced.
 * Memory: at most MAX_LINE_BYTES beyond the chunk, however long a line or a progress bar gets.
 */
export class LineSplitter {
  readonly #decodes: boolean;

  /** Bytes of the line that is not complete yet, since its start or its last CR. */
  #text: Buffer = NOTHING;
  /** A CR stands behind `#text`, and what follows decides what it means. */
  #returned = false;
  #position: number;
  #restart: number;

  /** `offset`: of the first byte that will be pushed. `decodes` false: for the ends alone, and `texts` stays empty. */
  constructor(offset = 0, decodes = true) {
    this.#decodes = decodes;
    this.#position = offset;
    this.#restart = offset;
  }

  /** Offset of the next byte to push. */
  get position(): number {
    return this.#position;
  }

  /** Starting afresh at this offset gives the lines that follow: there the line that is not complete starts. */
  get restart(): number {
    return this.#restart;
  }

  /** The line that is not complete yet, as it is now; without a character that is not complete either. */
  get partialText(): string {
    return new StringDecoder('utf8').write(this.#text);
  }

  /** The lines that these bytes complete. The chunk may be reused afterwards. */
  push(chunk: Buffer): Lines {
    const lines: Lines = { texts: [], ends: [] };
    const rest = this.#returned ? this.#resolveReturn(chunk, lines) : chunk;
    const data = this.#text.length === 0 ? rest : Buffer.concat([this.#text, rest]);
    this.#position += rest.length;
    if (!this.#returned) this.#cut(data, this.#position - data.length, lines);
    return lines;
  }

  /** What is left at the end of the file: the partial last line, if there is one. */
  flush(): Lines {
    const text = this.#text;
    this.#text = NOTHING;
    this.#returned = false;
    return text.length === 0
      ? { texts: [], ends: [] }
      : { texts: [text.toString('utf8')], ends: [this.#position] };
  }

  /** Settles a CR at the end of the last chunk; returns what is left of this one. */
  #resolveReturn(chunk: Buffer, lines: Lines): Buffer {
    const next = skipReturns(chunk, 0);
    this.#position += next;
    if (next === chunk.length) return NOTHING;
    this.#returned = false;
    if (chunk[next] !== LF) {
      this.#text = NOTHING;
      return chunk.subarray(next);
    }
    this.#position += 1;
    if (this.#decodes) lines.texts.push(this.#text.toString('utf8'));
    lines.ends.push(this.#position);
    this.#text = NOTHING;
    return chunk.subarray(next + 1);
  }

  /** `base`: the file offset of `data[0]`, where a line, or what counts of it, starts. */
  #cut(data: Buffer, base: number, lines: Lines): void {
    const add = (start: number, end: number, next: number) => {
      if (this.#decodes) lines.texts.push(data.toString('utf8', start, end));
      lines.ends.push(base + next);
    };
    let start = 0;
    let lf = find(data, LF, 0);
    let cr = find(data, CR, 0);
    for (;;) {
      const stop = Math.min(lf, cr);
      for (let end; stop - start > MAX_LINE_BYTES; start = end) {
        end = toCharacterStart(data, start + MAX_LINE_BYTES);
        add(start, end, end);
      }
      this.#restart = base + start;
      if (stop === data.length) return this.#keep(data.subarray(start), false);
      const next = stop === cr ? skipReturns(data, cr) : stop;
      if (next === data.length) return this.#keep(data.subarray(start, stop), true);
      const isEnd = data[next] === LF;
      if (isEnd) add(start, stop, next + 1);
      start = isEnd ? next + 1 : next;
      if (lf < start) lf = find(data, LF, start);
      if (cr < start) cr = find(data, CR, start);
    }
  }

  #keep(text: Buffer, returned: boolean): void {
    this.#text = text.length === 0 ? NOTHING : Buffer.from(text);
    this.#returned = returned;
  }
}

function find(data: Buffer, byte: number, from: number): number {
  const index = data.indexOf(byte, from);
  return index < 0 ? data.length : index;
}

function skipReturns(data: Buffer, from: number): number {
  let index = from;
  while (data[index] === CR) index += 1;
  return index;
}

/** The start of the UTF-8 character that `index` lies in; `index` itself where the bytes are no UTF-8. */
function toCharacterStart(data: Buffer, index: number): number {
  for (let start = index; start > index - 4; start -= 1)
    if (((data[start] ?? 0) & 0xc0) !== 0x80) return start;
  return index;
}
