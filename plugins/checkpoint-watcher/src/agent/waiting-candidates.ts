import type { FoundFile } from '@svc/agent/job-files';
import type { Stats } from 'node:fs';
import { isLikely } from './candidates.js';

/** When a candidate was first seen as it is. */
export interface Sighting extends Pick<Stats, 'size' | 'mtimeMs'> {
  /** By the monotonic clock, in ms. */
  readonly since: number;
}

/** Candidates that nobody has looked at yet, in the order of their turns: those that are likely to be checkpoints come first. */
export class WaitingCandidates {
  #sightings = new Map<string, Sighting>();

  get size(): number {
    return this.#sightings.size;
  }

  paths(): string[] {
    return [...this.#sightings.keys()];
  }

  inTurn(): Iterable<[candidate: string, Sighting]> {
    return this.#sightings;
  }

  /** What a walk has found stands in place of what an earlier one has. */
  renew(found: readonly FoundFile[]): void {
    const since = performance.now();
    const likely: [candidate: string, Sighting][] = [];
    const others: typeof likely = [];
    for (const { path: candidate, stats } of found) {
      const { size, mtimeMs } = stats;
      const before = this.#sightings.get(candidate);
      const isSame = before?.size === size && before.mtimeMs === mtimeMs;
      (isLikely(candidate) ? likely : others).push([candidate, isSame ? before : { size, mtimeMs, since }]);
    }
    this.#sightings = new Map([...likely, ...others]);
  }

  delete(candidate: string): void {
    this.#sightings.delete(candidate);
  }
}
