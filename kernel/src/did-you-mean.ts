/** `; did you mean "command"?` when a candidate is close to what was written, else an empty string. */
export function didYouMean(written: string, candidates: readonly string[]): string {
  const reach = Math.ceil(written.length / 3);
  const ranked = candidates
    .map((name) => ({ name, distance: editDistance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0] ? `; did you mean "${ranked[0].name}"?` : '';
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(previous[j]! + 1, current[j - 1]! + 1, substituted));
    }
    previous = current;
  }
  return previous[b.length]!;
}
