const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/**
 * How long to wait before try number `failures` (from 1): doubling from 250 ms to 30 s, and then a random part of the upper
 * half, so that a thousand agents do not come back in the same moment. `random` is in [0, 1).
 */
export function toBackoffMs(failures: number, random: number): number {
  const fullMs = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
  return fullMs / 2 + (fullMs / 2) * random;
}

/** After a refusal that only a person can lift: slow from the start. */
export function toSlowBackoffMs(random: number): number {
  return LONGEST_MS / 2 + (LONGEST_MS / 2) * random;
}
