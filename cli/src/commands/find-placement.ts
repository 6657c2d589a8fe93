import type { Client } from '@svc/client';
import { findExperiment, findProject } from './find-record.js';

export interface PlacementOptions {
  readonly project?: string;
  readonly experiment?: string;
}

interface Placement {
  readonly project_id: string | undefined;
  readonly experiment_id?: string;
}

/** The filters of a list by project and experiment, from names or ids. Throws Failure for an unknown or ambiguous one. */
export async function findPlacement(
  client: Client,
  { project, experiment }: PlacementOptions,
): Promise<Placement> {
  const project_id = project === undefined ? undefined : await findProject(client, project);
  if (experiment === undefined) return { project_id };
  return { project_id, experiment_id: await findExperiment(client, experiment, project_id) };
}
