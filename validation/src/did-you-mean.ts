/** `; did you mean "command"?` when a candidate is close to what was written, else an empty string. */
export function didYouMean(written: string, candidates: readonly string[]): string {
  const ranked = candidates
    .map((name) => ({ name, distance: editDistance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.ceil(written.length / 3))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0] ? `; did you mean "${ranked[0].name}"?` : '';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const above = row;
    row = [i + 1];
    for (const [j, other] of [...b].entries()) {
      row.push(Math.min(above[j + 1]! + 1, row[j]! + 1, above[j]! + (letter === other ? 0 : 1)));
    }
  }
  return row.at(-1)!;
}
