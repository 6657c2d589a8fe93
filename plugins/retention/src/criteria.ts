import { REMOVABLE_STATES, type BodyOf, type RemovableState, type routes } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { Projects } from '@svc/plugin-projects';

export type GarbageOrder = BodyOf<typeof routes.collectGarbage>;

/** Which jobs, and runs without a job, are to go. */
export interface Criteria {
  /** Finished before this, in ms since the epoch. */
  readonly before: number;
  /** null: of every project. */
  readonly projectId: string | null;
  readonly states: readonly RemovableState[];
  /** A run with this tag stays, and its job with it. */
  readonly keepTag: string;
}

/** What belongs to nothing any more is looked for only when everything is. */
export function isEverything({ projectId, states }: Criteria): boolean {
  return projectId === null && REMOVABLE_STATES.every((state) => states.includes(state));
}

const DAY_S = 86_400;

/** Throws not_found for a project that there is not. `now` in ms. */
export async function toCriteria(
  db: Db,
  projects: Projects,
  { older_than_s = 30 * DAY_S, project, states = [...REMOVABLE_STATES], keep_tag = 'keep' }: GarbageOrder,
  now: number,
): Promise<Criteria> {
  const projectId = project === undefined ? null : await projects.projectIdOf(db, project);
  const before = Math.max(0, Math.floor(now - older_than_s * 1000));
  return { before, projectId, states, keepTag: keep_tag };
}
