import type { Client } from '@svc/client';
import { routes, type Run } from '@svc/contract';

/** The names of the nodes of these records, by id; asks the server only when one has a node. */
export async function readNodeNames(
  client: Client,
  records: readonly { readonly node_id: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  if (records.every(({ node_id }) => node_id === null)) return new Map();
  const { items } = await client.call(routes.listNodes, { query: { limit: 1000 } });
  return new Map(items.map(({ id, name }) => [id, name]));
}

/** The name of the node of each of these runs that is of the present attempt of one of the newest 1000 jobs before it, by the id of the run. */
export async function readNodesOfRuns(
  client: Client,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, string>> {
  const ofJobs = runs.filter(({ job_id }) => job_id !== null);
  if (ofJobs.length === 0) return new Map();
  const before = Math.max(...ofJobs.map(({ created_at }) => created_at)) + 1;
  const { items: jobs } = await client.call(routes.listJobs, { query: { before, limit: 1000 } });
  const names = await readNodeNames(client, jobs);
  const nodeOf = new Map(
    jobs.map(({ id, attempt, node_id }) => [`${id} ${attempt}`, names.get(node_id ?? '')]),
  );
  return new Map(
    ofJobs.flatMap(({ id, job_id, attempt }) => {
      const name = nodeOf.get(`${job_id} ${attempt}`);
      return name === undefined ? [] : [[id, name] as const];
    }),
  );
}

/** The name of the node on which the run is or was; where that is unknown, the name that its host gave, else "-". */
export async function readNodeOfRun(client: Client, { job_id, attempt, environment }: Run): Promise<string> {
  const { hostname } = environment as { hostname?: unknown };
  const host = typeof hostname === 'string' ? hostname : '-';
  if (job_id === null) return host;
  const query = { limit: 1000 };
  const { items } = await client.call(routes.listJobAttempts, { params: { job_id }, query });
  const names = await readNodeNames(client, items);
  const own = items.find((each) => each.attempt === attempt);
  return names.get(own?.node_id ?? '') ?? host;
}

/** The names of the projects of these records, by id; asks the server only when one has a project. */
export async function readProjectNames(
  client: Client,
  records: readonly { readonly project_id: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  if (records.every(({ project_id }) => project_id === null)) return new Map();
  const { items } = await client.call(routes.listProjects, { query: { limit: 1000 } });
  return new Map(items.map(({ id, name }) => [id, name]));
}
