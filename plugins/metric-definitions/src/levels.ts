import type { MetricLevel } from '@svc/contract';
import { failValidation, type Db } from '@svc/kernel';
import type { Projects } from '@svc/plugin-projects';
import type { Placement } from './service.js';

/** A level of definitions. `id` is that of the experiment or the project, or `global`. */
export interface Level {
  readonly id: string;
  readonly name: MetricLevel;
  readonly placement: Placement;
}

export const GLOBAL: Level = {
  id: 'global',
  name: 'global',
  placement: { project_id: null, experiment_id: null },
};

/** The levels that apply to a placement, nearest first; the last one is global. */
export function toLevels({ project_id, experiment_id }: Placement): readonly [Level, ...Level[]] {
  const project: Level | null =
    project_id === null ? null : toLevel('project', project_id, { project_id, experiment_id: null });
  const experiment: Level | null =
    experiment_id === null ? null : toLevel('experiment', experiment_id, { project_id, experiment_id });
  const [nearest = GLOBAL, ...others] = [experiment, project, GLOBAL].filter((level) => level !== null);
  return [nearest, ...others];
}

function toLevel(name: MetricLevel, id: string, placement: Placement): Level {
  return { id, name, placement };
}

/** How a caller names a level: ids of any form. */
export interface LevelInput {
  readonly project_id?: string | null | undefined;
  readonly experiment_id?: string | null | undefined;
}

/** Throws not_found for an unknown id, validation_error for an experiment of another project. */
export async function requirePlacement(
  projects: Projects,
  db: Db,
  { project_id = null, experiment_id = null }: LevelInput,
): Promise<Placement> {
  const project = project_id === null ? null : (await projects.requireProject(db, project_id)).id;
  if (experiment_id === null) return { project_id: project, experiment_id: null };
  const experiment = await projects.requireExperiment(db, experiment_id);
  if (project !== null && project !== experiment.project_id) {
    const message = `experiment ${experiment.id} belongs to project ${experiment.project_id}; leave project_id out or name that one`;
    failValidation({ path: 'project_id', message });
  }
  return { project_id: experiment.project_id, experiment_id: experiment.id };
}
