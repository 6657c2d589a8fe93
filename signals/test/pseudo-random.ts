/** Numbers from 0 to 1, the same ones for a seed of 1 or more. */
export function pseudoRandom(seed: number): () => number {
  let state = seed % 2_147_483_647;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}
