import { routes, toId } from '@svc/contract';
import type { Client } from '@svc/client';
import { Failure } from '../failure.js';

/** The most that a list answers. */
const MOST = 1000;

export interface PlaceOptions {
  readonly project?: string;
  readonly experiment?: string;
}

/** The filters of a list by place, from names or ids. Throws Failure for a name that there is not, or that does not tell. */
export async function findPlace(
  client: Client,
  { project, experiment }: PlaceOptions,
): Promise<{ project_id?: string; experiment_id?: string }> {
  const inProject = project === undefined ? {} : { project_id: await findProject(client, project) };
  if (experiment === undefined) return inProject;
  return { ...inProject, experiment_id: await findExperiment(client, experiment, inProject) };
}

async function findProject(client: Client, reference: string): Promise<string> {
  if (toId('project', reference)) return reference;
  const { items } = await client.call(routes.listProjects, { query: { limit: MOST } });
  return items.find(({ name }) => name === reference)?.id ?? failWith(`no project "${reference}"`);
}

async function findExperiment(
  client: Client,
  reference: string,
  within: { project_id?: string },
): Promise<string> {
  if (toId('experiment', reference)) return reference;
  const { items } = await client.call(routes.listExperiments, { query: { ...within, limit: MOST } });
  const [found, other] = items.filter(({ name }) => name === reference);
  if (other) failWith(`several projects have an experiment "${reference}": add --project`);
  return found?.id ?? failWith(`no experiment "${reference}"`);
}

function failWith(message: string): never {
  throw new Failure(message);
}
