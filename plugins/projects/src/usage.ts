import type { Experiment, Project } from '@svc/contract';
import { fail, type Db } from '@svc/kernel';
import type { PlacementLevel, PlacementUser } from './service.js';
import type { ExperimentRow, ProjectRow } from './store.js';

/** What other plugins keep under projects and experiments. */
export class Usage {
  readonly #users = new Map<string, PlacementUser>();

  add(user: PlacementUser): void {
    if (this.#users.has(user.noun)) throw new Error(`two plugins count "${user.noun}" of projects`);
    this.#users.set(user.noun, user);
  }

  async toProjects(db: Db, rows: readonly ProjectRow[]): Promise<Project[]> {
    return this.#withRunCounts(db, 'project', rows);
  }

  async toExperiments(db: Db, rows: readonly ExperimentRow[]): Promise<Experiment[]> {
    return this.#withRunCounts(db, 'experiment', rows);
  }

  /** Throws conflict, naming what is there. `ownCounts` are counts of this plugin's own records. */
  async refuseUnlessEmpty(
    db: Db,
    level: PlacementLevel,
    row: ProjectRow,
    ownCounts: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    const counts: Record<string, number> = { ...ownCounts };
    for (const user of this.#users.values()) {
      counts[user.noun] = (await user.count(db, level, [row.id])).get(row.id) ?? 0;
    }
    const held = Object.entries(counts).filter(([, count]) => count > 0);
    if (held.length === 0) return;
    const list = held.map(([noun, count]) => `${count} ${noun}`).join(', ');
    fail('conflict', `${level} "${row.name}" is not empty: ${list}`, Object.fromEntries(held));
  }

  async move(db: Db, experimentId: string, toProjectId: string): Promise<void> {
    for (const user of this.#users.values()) await user.move(db, experimentId, toProjectId);
  }

  async #withRunCounts<R extends { id: string }>(db: Db, level: PlacementLevel, rows: readonly R[]) {
    const ids = rows.map(({ id }) => id);
    const counts = ids.length === 0 ? undefined : await this.#users.get('runs')?.count(db, level, ids);
    return rows.map((row) => ({ ...row, run_count: counts?.get(row.id) ?? 0 }));
  }
}
