/** A visit ends when the console has not been looked at for so long. */
const VISIT_ENDS_MS = 30 * 60_000;
/** What broke before the first visit is told for so long. */
const FIRST_VISIT_MS = 24 * 60 * 60_000;
const KEY = 'svc.visit';

/** Times of the server's clock, in milliseconds. */
export interface Visit {
  /** When the visit before this one ended; of the first one, a day before it began. */
  readonly since: number;
  readonly seenAt: number;
  readonly isFirst: boolean;
}

/** The visit that goes on, or the one that begins now. */
export function continueVisit(held: Visit | null, now: number): Visit {
  if (held === null) return { since: now - FIRST_VISIT_MS, seenAt: now, isFirst: true };
  if (now - held.seenAt > VISIT_ENDS_MS) return { since: held.seenAt, seenAt: now, isFirst: false };
  return { ...held, seenAt: now };
}

/** Notes in this browser that somebody looks at the console now. */
export function noteVisit(now: number): Visit {
  const visit = continueVisit(loadVisit(), now);
  saveVisit(visit);
  return visit;
}

/** From now on nothing is new that was there before. */
export function markSeen(now: number): Visit {
  const visit = { since: now, seenAt: now, isFirst: false };
  saveVisit(visit);
  return visit;
}

function loadVisit(): Visit | null {
  try {
    const held = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Partial<Visit> | null;
    if (typeof held?.since !== 'number' || typeof held.seenAt !== 'number') return null;
    return { since: held.since, seenAt: held.seenAt, isFirst: held.isFirst === true };
  } catch {
    return null;
  }
}

function saveVisit(visit: Visit): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(visit));
  } catch {
    // Storage is blocked: each time the page is opened is a first visit.
  }
}
