/** Median and 99th percentile, as text with one decimal. */
export function summarise(samples: readonly number[]): [median: string, p99: string] {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return [at(0.5).toFixed(1), at(0.99).toFixed(1)];
}

export function printTable(rows: readonly (readonly string[])[]): void {
  for (const [index, row] of rows.entries()) {
    console.log(`| ${row.join(' | ')} |`);
    if (index === 0) console.log(`|${row.map(() => '---|').join('')}`);
  }
}

/** How long each round takes, in ms; what `prepare` does before it is not counted. */
export async function measure(
  rounds: number,
  run: (round: number) => Promise<unknown>,
  prepare?: (round: number) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await prepare?.(round);
    const startedMs = performance.now();
    await run(round);
    times.push(performance.now() - startedMs);
  }
  return times;
}
