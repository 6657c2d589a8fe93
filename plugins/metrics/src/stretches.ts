import { addPoint, emptyDigest, mergeDigest, type Digest } from './digest.js';
import type { PointStore } from './point-store.js';
import { findSeries, segmentsOf } from './run-reader.js';
import type { Segment } from './series-reader.js';

/** The steps behind `after`, up to and including `upTo`. */
export interface Stretch {
  /** null: from the first step on. */
  readonly after: number | null;
  readonly upTo: number;
}

/** The digest of the points of a series in each of these stretches, which come by step and do not overlap. */
export async function digestsOf(
  store: PointStore,
  runId: string,
  name: string,
  stretches: readonly Stretch[],
): Promise<Digest[]> {
  const digests = stretches.map(emptyDigest);
  if (stretches.length === 0) return digests;
  await store.read(async (rows) => {
    const [series] = await findSeries(rows, runId, [name]);
    if (series)
      for (const segment of await segmentsOf(rows, series)) await addSegment(segment, stretches, digests);
  });
  return digests;
}

async function addSegment(segment: Segment, stretches: readonly Stretch[], digests: Digest[]): Promise<void> {
  const { first, last } = segment.digest;
  if (first === null || last === null) return;
  const index = indexOf(first.step, stretches);
  const stretch = stretches[index];
  if (!stretch || (stretch.after !== null && last.step <= stretch.after)) return;
  if (isInside(first.step, stretch) && isInside(last.step, stretch))
    return mergeDigest(digests[index]!, segment.digest);
  for (const point of await segment.load()) {
    const at = indexOf(point.step, stretches);
    if (stretches[at] && isInside(point.step, stretches[at])) addPoint(digests[at]!, point);
  }
}

function isInside(step: number, { after, upTo }: Stretch): boolean {
  return (after === null || step > after) && step <= upTo;
}

/** Of the first stretch that does not end before that step. */
function indexOf(step: number, stretches: readonly Stretch[]): number {
  let low = 0;
  let high = stretches.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stretches[middle]!.upTo < step) low = middle + 1;
    else high = middle;
  }
  return low;
}
