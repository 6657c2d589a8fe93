import type { Experiment, Project } from '@svc/contract';
import { fail, type Db, type PluginContext } from '@svc/kernel';
import { countUsage, moveExperiment, type PlacementLevel } from './hooks.js';
import type { ExperimentRow, ProjectRow } from './store.js';

/** The records of other plugins in projects and experiments. */
export class UsageCounts {
  constructor(private readonly ctx: Pick<PluginContext, 'fire'>) {}

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
    for (const usage of await this.ctx.fire(countUsage, { db, level, ids: [row.id] }))
      counts[usage.noun] = usage.counts.get(row.id) ?? 0;
    const held = Object.entries(counts).filter(([, count]) => count > 0);
    if (held.length === 0) return;
    const list = held.map(([noun, count]) => `${count} ${noun}`).join(', ');
    fail('conflict', `${level} "${row.name}" is not empty: ${list}`, Object.fromEntries(held));
  }

  move(db: Db, experimentId: string, toProjectId: string): Promise<void> {
    return this.ctx.fire(moveExperiment, db, experimentId, toProjectId);
  }

  async #withRunCounts<R extends { id: string }>(db: Db, level: PlacementLevel, rows: readonly R[]) {
    const ids = rows.map(({ id }) => id);
    const query = { db, level, ids, noun: 'runs' };
    const [usage] = ids.length === 0 ? [] : await this.ctx.fire(countUsage, query);
    return rows.map((row) => ({ ...row, run_count: usage?.counts.get(row.id) ?? 0 }));
  }
}
