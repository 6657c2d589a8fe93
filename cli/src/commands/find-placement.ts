import { routes, toId } from '@svc/contract';
import type { Client } from '@svc/client';
import { Failure } from '../failure.js';

/** The most that a list answers. */
const MAX_ITEMS = 1000;

export interface PlacementOptions {
  readonly project?: string;
  readonly experiment?: string;
}

interface Placement {
  readonly project_id: string | undefined;
  readonly experiment_id?: string;
}

/** The filters of a list by project and experiment, from names or ids. Throws Failure for an unknown or ambiguous name. */
export async function findPlacement(
  client: Client,
  { project, experiment }: PlacementOptions,
): Promise<Placement> {
  const project_id = project === undefined ? undefined : await findProject(client, project);
  if (experiment === undefined) return { project_id };
  return { project_id, experiment_id: await findExperiment(client, experiment, project_id) };
}

async function findProject(client: Client, reference: string): Promise<string> {
  if (toId('project', reference)) return reference;
  const { items } = await client.call(routes.listProjects, { query: { limit: MAX_ITEMS } });
  return items.find(({ name }) => name === reference)?.id ?? failWith(`there is no project "${reference}"`);
}

async function findExperiment(
  client: Client,
  reference: string,
  project_id: string | undefined,
): Promise<string> {
  if (toId('experiment', reference)) return reference;
  const { items } = await client.call(routes.listExperiments, { query: { project_id, limit: MAX_ITEMS } });
  const [found, other] = items.filter(({ name }) => name === reference);
  if (other) failWith(`several projects have an experiment "${reference}": name the project with --project`);
  return found?.id ?? failWith(`there is no experiment "${reference}"`);
}

function failWith(message: string): never {
  throw new Failure(message);
}
