/** Random numbers that a seed decides: the same seed, the same round. */
export interface Random {
  /** In [0, 1). */
  fraction(): number;
  /** From `low` to `high`, both included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** Mulberry32: small, and good enough to spread faults. */
export function createRandom(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick: (from) => from[integer(0, from.length - 1)]!,
  };
}
