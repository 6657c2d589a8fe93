import type { EventRecord } from '@svc/contract';
import type { Api } from './api.js';

/** What a page holds of them: more are forgotten, the oldest first. */
const MOST_NAMES = 5_000;

const known = new WeakMap<Api, Map<string, string>>();

/** Keeps the names that a list of the server came with, by the ids of their records. */
export function keepNames(api: Api, names: Readonly<Record<string, string>> = {}): void {
  const kept = known.get(api) ?? new Map<string, string>();
  known.set(api, kept);
  for (const [id, name] of Object.entries(names)) {
    kept.delete(id);
    kept.set(id, name);
  }
  for (const id of kept.keys()) {
    if (kept.size <= MOST_NAMES) break;
    kept.delete(id);
  }
}

/** Whether the event is about a record whose name has not come with a list. */
export function hasUnknownName(api: Api, { job_id, run_id, node_id }: EventRecord): boolean {
  return [job_id, run_id, node_id].some((id) => id !== null && nameOf(api, id) === null);
}

/** null: it did not come with a list, or its record is gone. */
export function nameOf(api: Api, id: string): string | null {
  return known.get(api)?.get(id) ?? null;
}
