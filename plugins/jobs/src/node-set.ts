/** A set of the nodes of a pass, by their number, as bits: for very many jobs such sets are intersected. */
export type NodeSet = readonly number[];

const BITS = 32;

export function toNodeSet(size: number, isIn: (index: number) => boolean): NodeSet {
  const words = new Array<number>(Math.ceil(size / BITS)).fill(0);
  for (let index = 0; index < size; index++) {
    if (isIn(index)) words[Math.floor(index / BITS)]! |= 1 << (index % BITS);
  }
  return words;
}

export function intersect(first: NodeSet, ...others: readonly NodeSet[]): NodeSet {
  const words = [...first];
  for (const other of others) {
    for (let index = 0; index < words.length; index++) words[index]! &= other[index]!;
  }
  return words;
}

export function isEmpty(set: NodeSet): boolean {
  return set.every((word) => word === 0);
}

/** The numbers in it, ascending. */
export function indicesOf(set: NodeSet): number[] {
  const indices: number[] = [];
  for (const [position, word] of set.entries()) {
    for (let rest = word; rest !== 0; rest &= rest - 1)
      indices.push(position * BITS + BITS - 1 - Math.clz32(rest & -rest));
  }
  return indices;
}
