import { createHash } from 'node:crypto';

/** A seq is a stream's slot of 26 bits and the number of the point in the stream, of 27 bits: 53 bits, exact in a double. */
const SLOT_BITS = 26;
const NUMBER_BITS = 27;
const SLOTS = 2 ** SLOT_BITS;
const POINTS_PER_STREAM = 2 ** NUMBER_BITS;

/**
 * Numbers the points of a training so that a point has the same seq at each import, also when the source has grown since: a stream is
 * what only grows at its end, such as a file or a metric, and its slot is a hash of its name. The numbers are part of what is stored:
 * another way to count would bring all points in twice.
 */
export class Seqs {
  readonly #streams = new Map<string, { readonly slot: number; count: number }>();
  readonly #taken = new Set<number>();

  /** Of the next point of the stream; null once the stream has 134 million. */
  next(name: string): number | null {
    const stream = this.#streams.get(name) ?? this.#open(name);
    if (stream.count === POINTS_PER_STREAM) return null;
    return stream.slot * POINTS_PER_STREAM + stream.count++;
  }

  /** The slot behind one that is taken, by a stream that was there before. */
  #open(name: string) {
    let slot = createHash('sha256').update(name).digest().readUInt32BE() >>> (32 - SLOT_BITS);
    while (this.#taken.has(slot)) slot = (slot + 1) % SLOTS;
    this.#taken.add(slot);
    const stream = { slot, count: 0 };
    this.#streams.set(name, stream);
    return stream;
  }
}
