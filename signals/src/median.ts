/** The median of at least one number, none of them NaN. Reorders `values`: a selection is faster than sorting. */
export function medianOf(values: Float64Array): number {
  const middle = values.length >>> 1;
  const upper = placeRank(values, middle);
  return values.length % 2 === 1 ? upper : (upper + largest(values, middle)) / 2;
}

/** Moves the number of that rank to its index (Hoare's quickselect): afterwards none before it is larger, and none after it smaller. */
function placeRank(values: Float64Array, rank: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >>> 1] as number;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] as number) < pivot) left += 1;
      while ((values[right] as number) > pivot) right -= 1;
      if (left > right) break;
      const swapped = values[left] as number;
      values[left++] = values[right] as number;
      values[right--] = swapped;
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else break;
  }
  return values[rank] as number;
}

/** The largest of the first `count` values. */
function largest(values: Float64Array, count: number): number {
  let found = -Infinity;
  for (let index = 0; index < count; index += 1) found = Math.max(found, values[index] as number);
  return found;
}
