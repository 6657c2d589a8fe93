import { stampOf, type Content } from './content.js';
import type { Sighting } from './waiting-candidates.js';

/** What is being written, or seems so. */
export interface Unsettled {
  stamp: string;
  /** In ms. */
  modifiedAt: number;
  /** Since then the stamp is the same, by the monotonic clock, in ms. */
  since: number;
  isOwn: boolean | null;
  /** It was still once, and yet not whole, or open for writing. */
  isHeld: boolean;
}

/** It is still and whole; what is not known is whether somebody has it open. */
export interface Settled {
  readonly candidate: string;
  readonly unsettled: Unsettled;
  readonly content: Content;
}

/** Must hold: what has been still since it was first seen needs no further pause, so that many that wait do not settle one thousand after the other. */
export function seen(candidate: string, { size, mtimeMs, since }: Sighting): Unsettled {
  const stamp = stampOf({ path: candidate, size, mtimeMs });
  return { stamp, modifiedAt: Math.round(mtimeMs), since, isOwn: null, isHeld: false };
}

/** A registered one that has changed. */
export function writtenOn(): Unsettled {
  return { stamp: '', modifiedAt: 0, since: 0, isOwn: true, isHeld: false };
}

/** It is looked at again later. */
export function hold(unsettled: Unsettled): false {
  unsettled.since = performance.now();
  unsettled.isHeld = true;
  return false;
}
