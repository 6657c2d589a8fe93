import { ID_PREFIXES, toId, type IdKind } from '@svc/contract';
import { fail, failValidation, type Db } from '@svc/kernel';
import type { PlacementInput, ResolvedPlacement } from './service.js';
import {
  findExperiment,
  findProject,
  insertExperiment,
  insertProject,
  requireExperimentRow,
  requireProjectRow,
  type ExperimentRow,
  type ProjectRow,
} from './store.js';

/** The project of an experiment that was named without one. */
export const DEFAULT_PROJECT = 'default';

const NO_PLACEMENT: ResolvedPlacement = {
  project_id: null,
  experiment_id: null,
  project: null,
  experiment: null,
};
/** The row may be deleted between the insert that conflicts with it and the look-up; then both are retried. */
const MAX_TRIES = 5;

/** See `Projects.resolve`. Rows are share-locked in the order project, experiment. */
export async function resolvePlacement(
  db: Db,
  input: PlacementInput,
  at: number,
): Promise<ResolvedPlacement> {
  const { project = null, experiment = null } = input;
  if (project === null && experiment === null) return NO_PLACEMENT;
  if (experiment !== null && looksLikeId(experiment)) return placeByExperimentId(db, experiment, project);
  const placedIn = await resolveProject(db, project ?? DEFAULT_PROJECT, at);
  const placedUnder = experiment === null ? null : await ensureExperiment(db, placedIn, experiment, at);
  return toPlacement(placedIn, placedUnder);
}

/** An identifier of any kind, with or without prefix: a name must not be mistaken for one. */
export function looksLikeId(reference: string): boolean {
  return (Object.keys(ID_PREFIXES) as IdKind[]).some((kind) => toId(kind, reference) !== null);
}

async function placeByExperimentId(db: Db, id: string, project: string | null): Promise<ResolvedPlacement> {
  const experiment = await requireExperimentRow(db, id, 'share');
  const own = await requireProjectRow(db, experiment.project_id, 'share');
  const isNamed = project === null || own.name === project || toId('project', project) === own.id;
  if (isNamed) return toPlacement(own, experiment);
  if (project !== null && looksLikeId(project)) await requireProjectRow(db, project);
  return failValidation({
    path: 'experiment',
    message: `experiment ${experiment.id} belongs to the project "${own.name}", not to "${project}"`,
  });
}

/** By name, created when unknown, or by id; throws not_found. */
export async function resolveProject(db: Db, reference: string, at: number): Promise<ProjectRow> {
  if (looksLikeId(reference)) return requireProjectRow(db, reference, 'share');
  return ensure(
    () => findProject(db, { name: reference }, 'share'),
    () => insertProject(db, { name: reference, description: '' }, at),
  );
}

async function ensureExperiment(
  db: Db,
  project: ProjectRow,
  name: string,
  at: number,
): Promise<ExperimentRow> {
  const project_id = project.id;
  return ensure(
    () => findExperiment(db, { project_id, name }, 'share'),
    () => insertExperiment(db, { project_id, name, description: '' }, at),
  );
}

/** Two callers that create the same name at the same time get the same row. */
async function ensure<T>(find: () => Promise<T | undefined>, insert: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const row = (await find()) ?? (await insert());
    if (row) return row;
  }
  return fail(
    'unavailable',
    'the project or experiment is being created and deleted at the same time; try again',
  );
}

function toPlacement(project: ProjectRow, experiment: ExperimentRow | null): ResolvedPlacement {
  return {
    project_id: project.id,
    experiment_id: experiment?.id ?? null,
    project: project.name,
    experiment: experiment?.name ?? null,
  };
}
