import { getOrAdd } from './get-or-add.js';

/** A set of the nodes of a pass, by their number, as bits. */
export interface NodeSet {
  readonly words: readonly number[];
  /** What has been intersected with it so far. */
  readonly met: Map<NodeSet, NodeSet>;
}

const BITS = 32;

/** Makes one object of equal sets: for very many jobs the same few sets are intersected. */
export class NodeSets {
  readonly #known = new Map<string, NodeSet>();

  constructor(private readonly size: number) {}

  where(isIn: (index: number) => boolean): NodeSet {
    const words = new Array<number>(Math.ceil(this.size / BITS)).fill(0);
    for (let index = 0; index < this.size; index++) {
      if (isIn(index)) words[Math.floor(index / BITS)]! |= 1 << (index % BITS);
    }
    return this.#toKnown(words);
  }

  intersect(first: NodeSet, second: NodeSet): NodeSet {
    if (first === second) return first;
    return getOrAdd(first.met, second, () =>
      this.#toKnown(first.words.map((word, index) => word & second.words[index]!)),
    );
  }

  #toKnown(words: readonly number[]): NodeSet {
    return getOrAdd(this.#known, words.join(), () => ({ words, met: new Map<NodeSet, NodeSet>() }));
  }
}

/** The numbers in it, ascending. */
export function indicesOf({ words }: NodeSet): number[] {
  const indices: number[] = [];
  for (const [position, word] of words.entries()) {
    for (let rest = word; rest !== 0; rest &= rest - 1)
      indices.push(position * BITS + BITS - 1 - Math.clz32(rest & -rest));
  }
  return indices;
}
