import type { MetricLevel } from '@svc/contract';
import { failValidation, type Db } from '@svc/kernel';
import type { Projects } from '@svc/plugin-projects';
import type { Runs } from '@svc/plugin-runs';
import type { Placement } from './service.js';

/** A level of definitions. `id` is that of the run, the experiment or the project, or `global`. */
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
export function toLevels({ project_id, experiment_id, run_id }: Placement): readonly [Level, ...Level[]] {
  const run = run_id === undefined ? null : toLevel('run', run_id, { project_id, experiment_id, run_id });
  const experiment = toLevel('experiment', experiment_id, { project_id, experiment_id });
  const project = toLevel('project', project_id, { project_id, experiment_id: null });
  const [nearest = GLOBAL, ...others] = [run, experiment, project, GLOBAL].filter((level) => level !== null);
  return [nearest, ...others];
}

function toLevel(name: MetricLevel, id: string | null, placement: Placement): Level | null {
  return id === null ? null : { id, name, placement };
}

/** How a caller names a level: ids of any form. */
export interface LevelInput {
  readonly project_id?: string | null | undefined;
  readonly experiment_id?: string | null | undefined;
  readonly run_id?: string | null | undefined;
}

/** Throws not_found for an unknown id, validation_error for an experiment of another project, and for a run with a level besides. */
export async function requirePlacement(
  projects: Projects,
  runs: Pick<Runs, 'require'>,
  db: Db,
  { project_id = null, experiment_id = null, run_id = null }: LevelInput,
): Promise<Placement> {
  if (run_id !== null) {
    if (project_id !== null || experiment_id !== null)
      failValidation({ path: 'run_id', message: 'names its project and experiment: leave those out' });
    const run = await runs.require(db, run_id);
    return { project_id: run.project_id, experiment_id: run.experiment_id, run_id: run.id };
  }
  const project = project_id === null ? null : (await projects.requireProject(db, project_id)).id;
  if (experiment_id === null) return { project_id: project, experiment_id: null };
  const experiment = await projects.requireExperiment(db, experiment_id);
  if (project !== null && project !== experiment.project_id) {
    const message = `experiment ${experiment.id} belongs to project ${experiment.project_id}; leave project_id out or name that one`;
    failValidation({ path: 'project_id', message });
  }
  return { project_id: experiment.project_id, experiment_id: experiment.id };
}
